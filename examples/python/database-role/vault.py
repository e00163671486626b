"""The package vault: what an SDK that is generated for it would have. Its plugin makes the passwords."""

from __future__ import annotations

import pulumi


class Password(pulumi.CustomResource):
    """A random password that the vault keeps. A new length makes a new password."""

    result: pulumi.Output[str]

    def __init__(
        self, name: str, length: pulumi.Input[int] | None = None, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("vault:index:Password", name, {"length": length, "result": None}, opts)
