"""A PostgreSQL server of its own, whose roles have to give their passwords."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread
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
        with psycopg.connect(self.url, autocommit=True) as connection:
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
    def holding_commits(self) -> Iterator[None]:
        """Meanwhile no commit is answered: it is done, and waits for another server to say that it has it, too."""
        self.execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
        self.execute("SELECT pg_reload_conf()")
        try:
            # From the first one that is held on, all are.
            committing = Thread(target=self._commit_until_one_is_held)
            committing.start()
            while not self.held_commits():
                pass
            self.end_held_commits()
            committing.join()
            yield
        finally:
            self.execute("ALTER SYSTEM RESET synchronous_standby_names")
            self.execute("SELECT pg_reload_conf()")

    def held_commits(self) -> int:
        return len(self.execute("SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'"))

    def end_held_commits(self) -> None:
        """Ends their connections; what they committed is there then."""
        self.execute("SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")

    def _commit_until_one_is_held(self) -> None:
        with suppress(psycopg.OperationalError):
            while True:
                self.execute("COMMENT ON DATABASE postgres IS 'committed'")


@contextmanager
def running_database() -> Iterator[Database]:
    """Raises RuntimeError when no server starts; the standard error says why."""
    with served([str(SERVERS / "postgres-server"), "--passwords"]) as address:
        yield Database(address)
