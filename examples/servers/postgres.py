"""A PostgreSQL server of its own, whose roles have to give their passwords."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from examples.kill.stores import SERVERS, served


class Database:
    """The server at `url`, which is the address of its administrator."""

    def __init__(self, url: str) -> None:
        self.url = url

    def execute(self, statement: str) -> list[tuple[Any, ...]]:
        """Runs one statement as the administrator; gives the rows that it answers."""
        with psycopg.connect(self.url) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def roles(self) -> dict[str, int]:
        """The roles that may log in, save the administrator, each with its limit of connections."""
        query = "SELECT rolname, rolconnlimit FROM pg_roles WHERE rolcanlogin AND rolname <> current_user ORDER BY 1"
        return dict(self.execute(query))

    def lets_in(self, role: str, password: str) -> bool:
        """Whether this role may log in with this password."""
        try:
            psycopg.connect(make_conninfo(self.url, user=role, password=password)).close()
        except psycopg.OperationalError as error:
            if "authentication failed" not in str(error):
                raise
            return False
        return True


@contextmanager
def running_database() -> Iterator[Database]:
    """Raises RuntimeError when no server starts; the standard error says why."""
    with served([str(SERVERS / "postgres-server"), "--passwords"]) as address:
        yield Database(address)
