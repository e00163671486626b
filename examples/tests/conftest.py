"""Every test here runs once per language; in `make test` in one of them, by turns (.ci/by_turns.json)."""

import os
from collections.abc import Iterator

import pytest

from examples.harness import LANGUAGES
from examples.servers.postgres import Database, running_database

BY_TURNS = {"1": ("nodejs",), "2": ("python",)}


@pytest.fixture(params=BY_TURNS.get(os.environ.get("MALOKO_TURN", ""), LANGUAGES))
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
