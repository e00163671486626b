"""A role of a PostgreSQL server for each member of a team; the component package team makes their passwords."""

import pulumi

from role import Role
from team import Team

members = pulumi.Config().require_object("members")
team = Team("team", members)
roles = {member: Role(member, role=member, password=team.passwords[member]) for member in members}
pulumi.export("roles", {member: role.role for member, role in roles.items()})
pulumi.export("passwords", team.passwords)
