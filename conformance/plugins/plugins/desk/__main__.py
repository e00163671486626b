"""A component plugin in Python whose component has a dynamic resource: a desk with a note.

`thing`: the note takes its text from a thing of the plugin `probe`. `outside`: the note has no parent. `revision` is of
the note's code: another one is other code, and nothing else. All other inputs are the note's.
"""

import sys
from typing import Any

import pulumi
from notes import Notes
from pulumi.dynamic import Resource
from pulumi.provider import ConstructResult, Provider, main


class Thing(pulumi.CustomResource):
    url: pulumi.Output[str]

    def __init__(self, name: str, props: dict[str, Any], opts: pulumi.ResourceOptions) -> None:
        super().__init__("probe:index:Thing", name, {"url": None, **props}, opts)


class Note(Resource):
    url: pulumi.Output[str]

    def __init__(self, name: str, revision: str, props: dict[str, Any], opts: pulumi.ResourceOptions) -> None:
        super().__init__(Notes(revision), name, {"url": None, "made_by": None, **props}, opts)


class Desk(pulumi.ComponentResource):
    def __init__(self, name: str, inputs: pulumi.Inputs, opts: pulumi.ResourceOptions | None) -> None:
        super().__init__("desk:index:Desk", name, {}, opts)
        own = pulumi.ResourceOptions(parent=self)
        props = dict(inputs)
        revision, outside = str(props.pop("revision", "1")), props.pop("outside", False)
        if props.pop("thing", False):
            props["text"] = Thing(f"{name}-thing", {"text": "a thing"}, own).url
        note = Note(f"{name}-note", revision, props, pulumi.ResourceOptions() if outside else own)
        self.url = note.url
        self.register_outputs({"url": self.url})


class Desks(Provider):
    def construct(
        self, name: str, resource_type: str, inputs: pulumi.Inputs, options: pulumi.ResourceOptions | None = None
    ) -> ConstructResult:
        desk = Desk(name, inputs, options)
        return ConstructResult(desk.urn, {"url": desk.url})


if __name__ == "__main__":
    main(Desks("1.0.0"), sys.argv[1:])
