"""What `make nightly-release` runs whole: every test in both languages.

For every change the first test of each file runs in both languages, the others in one of them. Where a file says
`ONE_LANGUAGE_BY_DAY`, each runs in one. Tests with the marker `nightly` are for the night.
"""

import itertools
import os
from collections.abc import Iterator

import pytest

from examples.harness import LANGUAGES
from examples.servers.postgres import Database, running_database


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if os.environ.get("MALOKO_LONG"):
        return
    left_out = {item for item in items if item.get_closest_marker("nightly")}
    by_day = [item for item in items if item not in left_out]
    for _, of_file in itertools.groupby(by_day, lambda item: item.path):
        tests = itertools.groupby(of_file, lambda item: getattr(item, "originalname", item.name))
        for place, (_, in_languages) in enumerate(tests):
            both = list(in_languages)
            in_one = hasattr(getattr(both[0], "module", None), "ONE_LANGUAGE_BY_DAY")
            if len(both) == len(LANGUAGES) and (place > 0 or in_one):
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
