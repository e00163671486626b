"""The component package team: what an SDK that is generated for it would have. Its plugin makes what is in a team."""

from __future__ import annotations

from collections.abc import Sequence

import pulumi


class Team(pulumi.ComponentResource):
    """A password of the package vault for each member."""

    passwords: pulumi.Output[dict[str, str]]

    def __init__(self, name: str, members: Sequence[str], opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("team:index:Team", name, {"members": members, "passwords": None}, opts, remote=True)
