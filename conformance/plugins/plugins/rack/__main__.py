"""A component plugin in Python, whose behaviour its inputs choose: a rack with two things of the plugin `probe`.

`hook`: a hook of its own refuses the first thing. `transform`: it transforms its children. `dynamic`: it makes a
dynamic resource. `die`: its process ends when the first thing is there. Its method `label` answers with what it is
given.
"""

import os
import sys
from typing import Any

import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider
from pulumi.provider import CallResult, ConstructResult, Provider, main


class Thing(pulumi.CustomResource):
    url: pulumi.Output[str]

    def __init__(self, name: str, props: dict[str, Any], opts: pulumi.ResourceOptions) -> None:
        super().__init__("probe:index:Thing", name, {"url": None, **props}, opts)


class Notes(ResourceProvider):
    def create(self, props: dict[str, Any]) -> CreateResult:
        return CreateResult("note-1", props)


class Note(Resource):
    def __init__(self, name: str, opts: pulumi.ResourceOptions) -> None:
        super().__init__(Notes(), name, {}, opts)


class Rack(pulumi.ComponentResource):
    def __init__(self, name: str, inputs: pulumi.Inputs, opts: pulumi.ResourceOptions | None) -> None:
        if inputs.get("transform"):
            louder = pulumi.ResourceOptions(transforms=[louder_text])
            opts = pulumi.ResourceOptions.merge(opts, louder)
        super().__init__("rack:index:Rack", name, {}, opts)
        own = pulumi.ResourceOptions(parent=self)
        hooked = own
        if inputs.get("hook"):
            hook = pulumi.ResourceHook(f"{name}-hook", refuse)
            hooked = pulumi.ResourceOptions(parent=self, hooks=pulumi.ResourceHookBinding(before_create=[hook]))
        first = Thing(f"{name}-first", {"text": inputs["text"]}, hooked)
        if inputs.get("die"):
            first.url.apply(lambda _: os._exit(7))
        if inputs.get("dynamic"):
            Note(f"{name}-note", own)
        second = Thing(f"{name}-second", {"link": first.url}, own)
        self.text = pulumi.Output.concat(inputs["text"], " in ", second.url)
        self.register_outputs({"text": self.text})


def refuse(args: pulumi.ResourceHookArgs) -> None:
    raise ValueError(f"{args.name} is not wanted")


def louder_text(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
    if "text" not in args.props:
        return None
    props = {**args.props, "text": pulumi.Output.from_input(args.props["text"]).apply(lambda text: text + "!")}
    return pulumi.ResourceTransformResult(props, args.opts)


class Racks(Provider):
    def construct(
        self, name: str, resource_type: str, inputs: pulumi.Inputs, options: pulumi.ResourceOptions | None = None
    ) -> ConstructResult:
        rack = Rack(name, inputs, options)
        return ConstructResult(rack.urn, {"text": rack.text})

    def call(self, token: str, args: pulumi.Inputs) -> CallResult:
        if args.get("refuse"):
            raise ValueError("this label is refused")
        return CallResult({"label": pulumi.Output.concat(args["prefix"], "label")})


if __name__ == "__main__":
    main(Racks("1.0.0"), sys.argv[1:])
