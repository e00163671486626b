"""Two things with a live provider: one that has a secret, and one that depends on it."""

from typing import Any

import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider


class Things(ResourceProvider):
    """Makes nothing but answers."""

    def create(self, props: dict[str, Any]) -> CreateResult:
        return CreateResult("1", {**props, "length": len(props["text"])})


class Thing(Resource, module="test", name="Thing"):
    """A thing with a text."""

    length: pulumi.Output[int]

    def __init__(self, name: str, props: dict[str, Any], opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(Things(), name, {**props, "length": None}, opts)


a = Thing("a", {"text": "hello", "hidden": pulumi.Output.secret("s3cretvalue")})
b = Thing(
    "b",
    {"text": "fixme", "later": a.length.apply(int)},
    pulumi.ResourceOptions(parent=a, depends_on=[a], protect=True),
)
