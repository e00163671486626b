"""The first test of each file runs in both languages, the others in one of them; in `make nightly-release` in both."""

import itertools
import os
from collections.abc import Iterator

import pytest

from examples.harness import LANGUAGES
from examples.servers.postgres import Database, running_database


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if os.environ.get("MALOKO_LONG"):
        return
    left_out = set()
    for _, of_file in itertools.groupby(items, lambda item: item.path):
        tests = itertools.groupby(of_file, lambda item: getattr(item, "originalname", item.name))
        for place, (_, in_languages) in enumerate(tests):
            both = list(in_languages)
            if place > 0 and len(both) == len(LANGUAGES):
                left_out.add(both[place % len(LANGUAGES)])
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
