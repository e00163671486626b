"""Components that plugins make, in programs with dynamic resources: real component plugins in Python and Node."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from cli import Project
from night import LONG, by_day

ROOT = Path(__file__).parents[2]
PLUGINS = ROOT / "conformance" / "plugins" / "plugins"
NODE_MODULES = ROOT / "node-tests" / "node_modules"

# `KIND` is the component's type, `INPUTS` are its inputs, as JSON; `call` are the arguments of its method.
PROGRAM = """
import json, os
import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider, UpdateResult

class Notes(ResourceProvider):
    def create(self, props):
        return CreateResult("note-1", {"of": props["of"]})

    def update(self, id, olds, news):
        return UpdateResult({"of": news["of"]})

class Note(Resource):
    def __init__(self, name, props, opts):
        super().__init__(Notes(), name, props, opts)

class Remote(pulumi.ComponentResource):
    text: pulumi.Output[str]

    def __init__(self, kind, name, props, opts=None):
        super().__init__(kind, name, {"text": None, **props}, opts, True)

def no_more(args):
    if args.type_ == "probe:index:Thing" and "text" in args.props:
        return pulumi.ResourceTransformResult({**args.props, "text": "transformed"}, args.opts)

kind = os.environ["KIND"]
inputs = json.loads(os.environ.get("INPUTS", "{}"))
call, transform = inputs.pop("call", None), inputs.pop("outside", False)
options = pulumi.ResourceOptions(transforms=[no_more] if transform else [])
box = Remote(kind, "box", {"text": pulumi.Output.secret("hush"), **inputs}, options)
note = Note("note", {"of": box.text}, pulumi.ResourceOptions(parent=box))
pulumi.export("text", box.text)
if call is not None:
    label = pulumi.runtime.call(kind + "/label", {"__self__": box, **call}, box)
    pulumi.export("label", label.apply(lambda answer: answer["label"]))
"""

UP = ("up", "--yes", "--skip-preview")
KINDS = {"python": "rack:index:Rack", "node": "shelf:index:Shelf"}
# What runs each plugin: in Python's environment and in Node's.
COMMANDS = {
    "probe": f'exec "{sys.executable}" "{PLUGINS}/probe.py"',
    "rack": f'exec "{sys.executable}" "{PLUGINS}/rack"',
    "shelf": f'NODE_PATH="{NODE_MODULES}" exec node "{PLUGINS}/shelf"',
}


class Boxes:
    """A project whose component a plugin makes, and the outside world of the component's children."""

    def __init__(self, project: Project, kind: str) -> None:
        self.project = project
        self.world = project.directory / "world"
        self.world.mkdir()
        project.write("__main__.py", PROGRAM)
        for name, command in COMMANDS.items():
            project.write(f"bin/pulumi-resource-{name}", f'#!/bin/sh\n{command} "$@"\n').chmod(0o755)
        project.environment |= {
            "PATH": f"{project.directory}/bin:{os.environ['PATH']}",
            "PROBE_WORLD": str(self.world),
            "KIND": kind,
        }

    def gives(self, **inputs: object) -> None:
        self.project.environment["INPUTS"] = json.dumps(inputs)

    def objects(self) -> dict[str, dict[str, object]]:
        return {path.stem: json.loads(path.read_text()) for path in self.world.iterdir()}

    def outputs(self) -> dict[str, object]:
        said: dict[str, object] = json.loads(self.project.run("stack", "output", "--json", "--show-secrets").stdout)
        return said

    def resources(self) -> list[str]:
        states = json.loads(self.project.run("stack", "export").stdout)["deployment"].get("resources", [])
        own = ("pulumi:pulumi:Stack", "pulumi:providers:")
        return [resource["urn"].rsplit("::", 1)[-1] for resource in states if not resource["type"].startswith(own)]


# By day each host has the plugin of its own language.
@pytest.fixture(params=by_day(["python", "node"], lambda language, _: language == "python"))
def boxes(project: Project, request: pytest.FixtureRequest) -> Boxes:
    if request.param == "node" and not (NODE_MODULES.is_dir() and shutil.which("node")):
        pytest.fail("the component plugin in Node needs node and node-tests/node_modules: run `make build-node`")
    return Boxes(project, KINDS[request.param])


def test_a_plugin_makes_a_component_with_its_children(boxes: Boxes) -> None:
    if LONG:
        assert "Thing box-first create" in boxes.project.run("preview").stdout
        assert boxes.objects() == {}
    boxes.gives(call={"prefix": "my "})
    boxes.project.run(*UP)
    assert sorted(boxes.objects()) == ["here-box-first", "here-box-second"]
    assert boxes.outputs() == {"text": "hush in http://here-box-second", "label": "my label"}
    assert sorted(boxes.resources()) == ["box", "box-first", "box-second", "note"]
    assert "hush" not in boxes.project.run("stack", "export").stdout
    if LONG:
        assert "5 unchanged" in boxes.project.run(*UP).stdout
        boxes.project.run("refresh", "--yes", "--skip-preview")
    boxes.project.run("destroy", "--yes", "--skip-preview")
    assert boxes.objects() == {}


def test_the_programs_transforms_reach_the_children_that_a_plugin_makes(boxes: Boxes) -> None:
    boxes.gives(outside=True)
    boxes.project.run(*UP)
    assert boxes.objects()["here-box-first"]["text"] == "transformed"


def test_a_plugins_own_hooks_and_transforms_are_called(boxes: Boxes) -> None:
    boxes.gives(transform=True)
    boxes.project.run(*UP)
    assert "hush!" in json.dumps(boxes.objects()["here-box-first"])
    # By day Node has a hook.
    if LONG:
        boxes.project.run("destroy", "--yes", "--skip-preview")
        boxes.gives(hook=True)
        assert "the hook 'box-hook' (before_create) failed" in boxes.project.failing(*UP)
        assert boxes.objects() == {}


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_what_a_plugin_refuses_ends_the_run_with_its_reason(boxes: Boxes) -> None:
    boxes.gives(call={"prefix": "", "refuse": True})
    said = boxes.project.failing("preview")
    assert "/label' failed" in said
    assert "this label is refused" in said
    boxes.gives(dynamic=True)
    said = boxes.project.failing(*UP)
    assert "box-note" in said
    assert "so that the environment of its code is not known" in said


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_component_plugin_that_dies_loses_nothing(boxes: Boxes) -> None:
    boxes.gives(die=True)
    said = boxes.project.failing(*UP)
    assert "box: the component cannot be made: the plugin's process has ended in the middle of the call" in said
    assert sorted(boxes.objects()) == ["here-box-first"]
    assert "box-first" in boxes.resources()
    boxes.gives()
    boxes.project.run(*UP)
    assert sorted(boxes.objects()) == ["here-box-first", "here-box-second"]


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
@pytest.mark.nightly
def test_a_component_whose_child_fails_fails_alone(boxes: Boxes) -> None:
    boxes.gives(hook=True)
    said = boxes.project.failing(*UP, "--continue-on-error")
    assert "the hook 'box-hook' (before_create) failed" in said
    assert "box: the component cannot be made" in said
    assert "note" not in boxes.resources()


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
@pytest.mark.nightly
def test_one_call_at_a_time_is_enough_for_components(boxes: Boxes) -> None:
    boxes.project.run(*UP, "--parallel", "1")
    assert sorted(boxes.objects()) == ["here-box-first", "here-box-second"]
