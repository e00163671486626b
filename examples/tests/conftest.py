"""What `make nightly-release` runs whole: every test in both languages.

For every change each test runs in one language: those of a file by turns, and the first ones of the files by turns.
Tests with the marker `nightly` are for the night.
"""

import itertools
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from examples.harness import LANGUAGES
from examples.servers.postgres import Database, running_database


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if os.environ.get("MALOKO_LONG"):
        return
    files = sorted(Path(__file__).parent.glob("test_*.py"))
    left_out = {item for item in items if item.get_closest_marker("nightly")}
    by_day = [item for item in items if item not in left_out]
    for file, of_file in itertools.groupby(by_day, lambda item: item.path):
        tests = itertools.groupby(of_file, lambda item: getattr(item, "originalname", item.name))
        for turn, (_, in_languages) in enumerate(tests, start=files.index(file)):
            both = list(in_languages)
            if len(both) == len(LANGUAGES):
                left_out.add(both[(turn + 1) % len(LANGUAGES)])
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


@pytest.fixture(params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session")
def server() -> Iterator[Database]:
    with running_database() as database:
        yield database


@pytest.fixture
def database(server: Database) -> Iterator[Database]:
    """A PostgreSQL server without roles, save the administrator."""
    yield server
    for role in server.roles():
        server.execute(f'DROP ROLE "{role}"')
