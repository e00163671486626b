"""What the tests share. They drive the installed wheel: function programs against a state in memory, and the CLI."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import warm
from cli import FOR_TESTS, Project
from kit import ONLY_THE_KIT
from stacks import Stack

from maloko._providers import registered
from maloko._sdk import seams

SLOWEST_FILES = (
    "lifecycle",
    "tutorial",
    "kit_unresolved_creates",
    "laws_real",
    "kit_plugin",
    "hostile",
    "canaries",
    "interrupts",
)
"""The files that take longest. They come first, so that no worker goes on alone at the end."""

for name, value in FOR_TESTS.items():
    os.environ.setdefault(name, value)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sorts by file; within one the tests stay in their order. What is for the night is left to it."""
    if not os.environ.get("MALOKO_LONG"):
        items[:] = [item for item in items if item.get_closest_marker("nightly") is None]
    places = {f"test_{name}": place for place, name in enumerate(SLOWEST_FILES)}
    items.sort(key=lambda item: places.get(item.path.stem, len(places)))


@pytest.fixture
def stack() -> Stack:
    return Stack()


@pytest.fixture(autouse=True)
def _nothing_is_left_behind() -> Iterator[None]:
    limit = sys.getrecursionlimit()
    yield
    registered.forget()
    assert seams._active == 0
    assert sys.getrecursionlimit() == limit


@pytest.fixture
def only_the_kit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Test runs of a test have the kit's plugin alone."""
    for name, value in ONLY_THE_KIT.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def pytester(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> pytest.Pytester:
    """Test runs in a process of their own begin in milliseconds, unless the test is about what is loaded."""
    if not request.node.get_closest_marker("loads_anew"):
        monkeypatch.setattr(pytester, "popen", warm.start_in_pytester)
    return pytester


@pytest.fixture(scope="session")
def with_a_stack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory that each project is a copy of."""
    made = Project(tmp_path_factory.mktemp("with-a-stack"))
    made.write("__main__.py", "")
    made.run("stack", "init", "dev")
    return made.directory


@pytest.fixture
def project(tmp_path: Path, with_a_stack: Path) -> Project:
    """A project with a stack `dev`."""
    shutil.copytree(with_a_stack, tmp_path, dirs_exist_ok=True)
    return Project(tmp_path)
