"""Roles of a PostgreSQL server as resources, through psycopg."""

# The SDK types property bags as dict[str, Any]; the methods here say what is in them.
# mypy: disable-error-code="override"

from __future__ import annotations

import os
import re
from typing import Any, TypedDict

import psycopg
import pulumi
from psycopg import sql
from pulumi.dynamic import (
    CheckFailure,
    CheckResult,
    CreateResult,
    DiffResult,
    ReadResult,
    Resource,
    ResourceProvider,
    UpdateResult,
)

from maloko import current_call

NO_LIMIT = -1
NAME = re.compile(r"(?!pg_)[a-z_][a-z0-9_]{0,62}")
# What create writes beside a role, so that `find` knows which create made it.
MADE_BY = "made by maloko, operation "


class Inputs(TypedDict):
    """What the provider's methods are given, resolved."""

    role: str
    password: str
    connectionLimit: float


class RoleProvider(ResourceProvider):
    """Manages roles of the server at DATABASE_URL, which is read anew for every call.

    So the administrator's password is never in the state or the configuration, and a destroy uses today's.
    """

    def check(self, _olds: Inputs, news: Inputs) -> CheckResult:
        failures = []
        role, limit = news["role"], news["connectionLimit"]
        if not pulumi.contains_unknowns(role) and not NAME.fullmatch(role):
            reason = f'"{role}" is no name for a role: write small letters, digits and underscores, and no pg_ first'
            failures.append(CheckFailure("role", reason))
        if not pulumi.contains_unknowns(limit) and (limit < NO_LIMIT or limit != int(limit)):
            failures.append(CheckFailure("connectionLimit", f"must be a whole number, or {NO_LIMIT} for no limit"))
        return CheckResult({**news}, failures)

    def diff(self, _id: str, olds: Inputs, news: Inputs) -> DiffResult:
        changed = [key for key in ("role", "password", "connectionLimit") if olds.get(key) != news.get(key)]
        return DiffResult(changes=bool(changed), replaces=[key for key in changed if key == "role"])

    def create(self, props: Inputs) -> CreateResult:
        """Makes the role, and notes the operation key beside it: both are there, or neither is.

        A role of that name that is there already is somebody else's, and an error.
        """
        role = sql.Identifier(props["role"])
        made_by = sql.Literal(MADE_BY + current_call().operation_key)
        with connect() as connection:
            connection.execute(sql.SQL("CREATE ROLE {} {}").format(role, options_of(props)))
            connection.execute(sql.SQL("COMMENT ON ROLE {} IS {}").format(role, made_by))
        return CreateResult(props["role"], {**props})

    def find(self, key: str, props: Inputs) -> ReadResult | None:
        """Looks for the role that a create with this key made, whose answer nobody heard."""
        query = "SELECT rolname, rolconnlimit FROM pg_roles WHERE shobj_description(oid, 'pg_authid') = %s"
        with connect() as connection:
            found = connection.execute(query, [MADE_BY + key]).fetchone()
        if found is None:
            return None
        return ReadResult(found[0], {**props, "role": found[0], "connectionLimit": found[1]})

    def read(self, id_: str, props: Inputs) -> ReadResult:
        """Says whether the role is there, and its limit. The server tells nobody its password."""
        query = "SELECT rolconnlimit FROM pg_roles WHERE rolname = %s AND rolcanlogin"
        with connect() as connection:
            found = connection.execute(query, [id_]).fetchone()
        if found is None:
            return ReadResult("", {})
        inputs = {**props, "role": id_, "connectionLimit": found[0]}
        return ReadResult(id_, inputs, inputs)

    def update(self, id_: str, _olds: Inputs, news: Inputs) -> UpdateResult:
        with connect() as connection:
            connection.execute(sql.SQL("ALTER ROLE {} {}").format(sql.Identifier(id_), options_of(news)))
        return UpdateResult({**news})

    def delete(self, id_: str, _props: Inputs) -> None:
        with connect() as connection:
            connection.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(sql.Identifier(id_)))


def connect() -> psycopg.Connection:
    """A connection for a `with`, whose end commits or rolls back, and closes it."""
    address = os.environ.get("DATABASE_URL")
    if not address:
        raise RuntimeError("the environment variable DATABASE_URL is not set")
    return psycopg.connect(address)


def options_of(props: Inputs) -> sql.Composed:
    limit = sql.Literal(int(props["connectionLimit"]))
    return sql.SQL("LOGIN PASSWORD {} CONNECTION LIMIT {}").format(sql.Literal(props["password"]), limit)


class Role(Resource, name="Role"):
    """A role that may log in with a password, on so many connections at a time."""

    role: pulumi.Output[str]
    connection_limit: pulumi.Output[float]

    def __init__(
        self,
        name: str,
        role: pulumi.Input[str],
        password: pulumi.Input[str],
        connection_limit: pulumi.Input[int] = NO_LIMIT,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        props: dict[str, Any] = {"role": role, "password": password, "connectionLimit": connection_limit}
        super().__init__(_provider, name, props, opts)


_provider = RoleProvider()
