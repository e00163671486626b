"""A random identifier as a resource: the provider has a `create`, and a `read` for identifiers drawn elsewhere."""

# The SDK types property bags as dict[str, Any]; the methods here say what is in them.
# mypy: disable-error-code="override"

from __future__ import annotations

import secrets
from typing import Any, TypedDict

import pulumi
from pulumi.dynamic import CreateResult, ReadResult, Resource, ResourceProvider


class Inputs(TypedDict):
    """What the provider is given, resolved."""

    size: float


class StableIdProvider(ResourceProvider):
    """Draws bytes when the resource is new. Nothing outside the state remembers them, so nothing is deleted."""

    def create(self, props: Inputs) -> CreateResult:
        text = secrets.token_hex(int(props["size"]))
        outs: dict[str, Any] = {"size": props["size"], "text": text}
        return CreateResult(id_=text, outs=outs)

    def read(self, id_: str, _props: dict[str, Any]) -> ReadResult:
        """An identifier is all in its id: so one that is in use already can be imported."""
        size = len(bytes.fromhex(id_))
        return ReadResult(id_, {"size": size, "text": id_}, {"size": size})


class StableId(Resource, name="StableId"):
    """`size` random bytes; `text` has them in hexadecimal.

    The size counts when the identifier is drawn. A later change of it is ignored rather than taken for an update, for
    which a provider without `update` has no answer.
    """

    size: pulumi.Output[float]
    text: pulumi.Output[str]

    def __init__(self, name: str, size: pulumi.Input[int], opts: pulumi.ResourceOptions | None = None) -> None:
        opts = pulumi.ResourceOptions.merge(pulumi.ResourceOptions(ignore_changes=["size"]), opts)
        super().__init__(_provider, name, {"text": None, "size": size}, opts)


_provider = StableIdProvider()
