"""A component plugin in Python on the package `pulumi` alone: a component makes two resources of the plugin `probe`."""

from typing import TypedDict

import pulumi
from pulumi.provider.experimental import component_provider_host


class Thing(pulumi.CustomResource):
    url: pulumi.Output[str]
    token: pulumi.Output[str]

    def __init__(self, name, props, opts=None):
        super().__init__("probe:index:Thing", name, {"url": None, "token": None, **props}, opts)


class BoxArgs(TypedDict):
    text: pulumi.Input[str]
    extra: pulumi.Input[str] | None


class Box(pulumi.ComponentResource):
    text: pulumi.Output[str]
    token: pulumi.Output[str]

    def __init__(self, name: str, args: BoxArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("pycomp:index:Box", name, {}, opts)
        if name == "broken":
            raise ValueError("this box cannot be made")
        first = Thing(f"{name}-first", {"text": args["text"]}, pulumi.ResourceOptions(parent=self))
        second = Thing(
            f"{name}-second", {"link": first.url, "extra": args.get("extra")}, pulumi.ResourceOptions(parent=self)
        )
        pulumi.log.info("a box was made", self)
        self.text = pulumi.Output.concat(args["text"], " of ", second.url)
        self.token = second.token
        self.register_outputs({"text": self.text, "token": self.token})


if __name__ == "__main__":
    component_provider_host(name="pycomp", components=[Box], version="0.3.0")
