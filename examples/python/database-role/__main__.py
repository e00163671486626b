"""A role of a PostgreSQL server, with a password from the package vault."""

import pulumi

from role import Role
from vault import Password

config = pulumi.Config()
password = Password("password", length=config.require_int("passwordLength"))
role = Role(
    "role",
    role=config.require("role"),
    password=password.result,
    connection_limit=config.require_int("connectionLimit"),
)
pulumi.export("role", role.role)
pulumi.export("password", password.result)
