"""Dynamic resources that plugins in Python and Node make: their code runs in the environment of the plugin."""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from cli import Project
from night import LONG, by_day

ROOT = Path(__file__).parents[2]
PLUGINS = ROOT / "conformance" / "plugins" / "plugins"
NODE_MODULES = ROOT / "node-tests" / "node_modules"

# `KIND` is the component's type, `INPUTS` are its inputs, as JSON; `live` adds a dynamic resource of the program.
PROGRAM = """
import json, os
import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider

class Lives(ResourceProvider):
    def create(self, props):
        return CreateResult("live-1", {"of": props["of"]})

class Live(Resource):
    def __init__(self, name, props, opts):
        super().__init__(Lives(), name, props, opts)

class Remote(pulumi.ComponentResource):
    url: pulumi.Output[str]

    def __init__(self, kind, name, props):
        super().__init__(kind, name, {"url": None, **props}, None, True)

inputs = json.loads(os.environ["INPUTS"])
live = inputs.pop("live", False)
if inputs:
    desk = Remote(os.environ["KIND"], "desk", inputs)
    pulumi.export("url", desk.url)
    if live:
        Live("live", {"of": desk.url}, pulumi.ResourceOptions(parent=desk))
"""

UP = ("up", "--yes", "--skip-preview")
REFRESH = ("refresh", "--yes", "--skip-preview")
DESTROY = ("destroy", "--yes", "--skip-preview")
KINDS = {"python": "desk:index:Desk", "node": "drawer:index:Drawer"}
LISTED = """
plugins:
  providers:
    - name: desk
      path: ./desk
    - name: drawer
      path: ./drawer
"""


class Desks:
    """A project with a component whose plugin makes a dynamic resource, and the outside world of that."""

    def __init__(self, project: Project, language: str) -> None:
        self.project = project
        self.language = language
        self.world = project.directory / "world"
        self.world.mkdir()
        project.write("Pulumi.yaml", f"name: trial\nruntime: python\n{LISTED}")
        project.write("__main__.py", PROGRAM)
        for name in ("desk", "drawer"):
            shutil.copytree(PLUGINS / name, project.directory / name)
        python = {"name": "python", "options": {"virtualenv": sys.prefix}}
        project.write("desk/PulumiPlugin.yaml", json.dumps({"runtime": python}))
        node = {"name": "nodejs", "options": {"typescript": False}}
        project.write("drawer/PulumiPlugin.yaml", json.dumps({"runtime": node}))
        # A package that the folder of the program does not have; the SDK is above both.
        project.write("drawer/node_modules/note-files/package.json", '{"name": "note-files", "version": "1.0.0"}')
        modules = project.directory / "drawer" / "node_modules"
        shutil.move(project.directory / "drawer" / "files.js", modules / "note-files" / "index.js")
        (project.directory / "node_modules").symlink_to(NODE_MODULES)
        probe = f'#!/bin/sh\nexec "{sys.executable}" "{PLUGINS}/probe.py" "$@"\n'
        project.write("bin/pulumi-resource-probe", probe).chmod(0o755)
        project.environment |= {
            "PATH": f"{project.directory}/bin:{os.environ['PATH']}",
            "PROBE_WORLD": str(project.directory / "things"),
            "NOTES_WORLD": str(self.world),
            "KIND": KINDS[language],
        }
        (project.directory / "things").mkdir()
        project.run("config", "set", "greeting", "hello ")
        self.wants(text="one")

    def wants(self, **inputs: object) -> None:
        self.project.environment["INPUTS"] = json.dumps(inputs)

    def without_program(self) -> None:
        self.project.write("__main__.py", "raise SystemExit('the program is not to be run')\n")

    def notes(self) -> dict[str, dict[str, str]]:
        return {path.stem: json.loads(path.read_text()) for path in self.world.iterdir()}

    def texts(self) -> dict[str, str]:
        return {name: note["text"] for name, note in self.notes().items()}

    def resources(self, *options: str) -> dict[str, dict[str, Any]]:
        resources = json.loads(self.project.run("stack", "export", *options).stdout)["deployment"].get("resources", [])
        return {resource["urn"].rsplit("::", 1)[-1]: resource for resource in resources}


# By day each host has the plugin of its own language.
@pytest.fixture(params=by_day(["python", "node"], lambda language, _: language == "python"))
def desks(project: Project, request: pytest.FixtureRequest) -> Desks:
    if request.param == "node" and not (NODE_MODULES.is_dir() and shutil.which("node")):
        pytest.fail("the component plugin in Node needs node and node-tests/node_modules: run `make build-node`")
    return Desks(project, request.param)


def test_the_dynamic_resource_of_a_component_plugin_lives_like_any_other(desks: Desks) -> None:
    preview = desks.project.run("preview").stdout
    assert "desk-note create" in preview
    assert desks.notes() == {}
    desks.project.run(*UP)
    made = {"text": "one", "made_by": "hello 1", "url": "note://top", "cwd": os.path.realpath(desks.project.directory)}
    assert desks.notes() == {"top": made}
    assert json.loads(desks.project.run("stack", "output", "--json").stdout) == {"url": "note://top"}
    package = {"python": "pulumi-python", "node": "pulumi-nodejs"}[desks.language]
    note = desks.resources()["desk-note"]
    assert f"::pulumi:providers:{package}::default::" in note["provider"]
    assert note["inputs"]["__provider"] == note["outputs"]["__provider"]
    desks.wants(text="two")
    assert "1 updated" in desks.project.run(*UP).stdout
    assert desks.texts() == {"top": "two"}
    # By day a replacement is left to the resources of the program, and a run without a change to all others.
    if not LONG:
        desks.without_program()
        desks.project.run(*DESTROY)
        assert (desks.notes(), desks.resources()) == ({}, {})
        return
    assert "unchanged" in desks.project.run(*UP).stdout
    desks.wants(text="two", slot="low")
    assert "1 replaced" in desks.project.run(*UP).stdout
    assert desks.texts() == {"low": "two"}
    desks.without_program()
    (desks.world / "low.json").write_text(json.dumps({"text": "by hand"}))
    desks.project.run(*REFRESH)
    assert desks.resources()["desk-note"]["outputs"]["text"] == "by hand"
    desks.project.run(*DESTROY)
    assert (desks.notes(), desks.resources()) == ({}, {})


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
@pytest.mark.nightly
def test_code_alone_is_a_change_only_where_its_diff_leaves_that_open(desks: Desks) -> None:
    desks.project.run(*UP)
    desks.wants(text="one", revision="2")
    assert "updated" not in desks.project.run(*UP).stdout
    assert desks.notes()["top"]["made_by"] == "hello 1"
    desks.wants(text="one", vague=True)
    desks.project.run(*UP)
    desks.wants(text="one", vague=True, revision="3")
    said = desks.project.run(*UP).stdout
    assert "1 updated" in said
    assert "replaced" not in said
    assert desks.notes()["top"]["made_by"] == "hello 3"
    # The code of the state alone.
    assert "unchanged" in desks.project.run(*UP).stdout


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_what_its_provider_refuses_or_raises_is_told_and_nothing_is_lost(desks: Desks) -> None:
    desks.wants(text="refused")
    assert "this text is refused" in desks.project.failing(*UP)
    desks.wants(text="broken")
    said = desks.project.failing(*UP)
    assert "this note cannot be written" in said
    assert "desk-note" in said
    assert desks.notes() == {}
    if LONG:
        desks.wants(text="one")
        desks.project.run(*UP)
        assert desks.texts() == {"top": "one"}


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_server_that_dies_in_a_create_leaves_an_unresolved_create(desks: Desks) -> None:
    desks.wants(text="die")
    said = desks.project.failing(*UP)
    assert "the plugin's process has ended in the middle of the call" in said
    assert "unresolved create" in desks.project.run("stack").stdout
    assert desks.texts() == {"top": "die"}
    desks.without_program()
    desks.project.run(*DESTROY)
    assert "unresolved create" in desks.project.run("stack").stdout


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
@pytest.mark.nightly
def test_a_component_plugin_that_is_gone_is_named_and_nothing_is_lost(desks: Desks) -> None:
    desks.project.run(*UP)
    desks.without_program()
    folder = desks.project.directory / ("desk" if desks.language == "python" else "drawer")
    away = folder.rename(folder.with_name("away"))
    said = desks.project.failing(*DESTROY)
    assert "desk-note" in said
    assert str(folder) in said.replace("./", "")
    assert desks.texts() == {"top": "one"}
    assert "desk-note" in desks.resources()
    away.rename(folder)
    desks.project.run(*DESTROY)
    assert (desks.notes(), desks.resources()) == ({}, {})


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
@pytest.mark.nightly
def test_it_may_depend_on_a_resource_of_a_package(desks: Desks) -> None:
    desks.wants(thing=True)
    desks.project.run("preview")
    desks.project.run(*UP)
    assert desks.texts() == {"top": "http://here-desk-thing"}
    desks.wants()
    desks.project.run(*UP)
    assert (desks.notes(), list((desks.project.directory / "things").iterdir())) == ({}, [])


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_outside_of_its_component_it_is_refused(desks: Desks) -> None:
    desks.wants(text="one", outside=True)
    said = desks.project.failing(*UP)
    assert "'desk-note'" in said
    assert "make dynamic resources below the component" in said
    assert desks.notes() == {}


def test_its_code_is_shown_nowhere(desks: Desks) -> None:
    said, as_json = "", ""
    # At night a change of the code as well.
    for inputs in ({"text": "one"}, {"text": "one", "vague": True, "revision": "2"})[: 2 if LONG else 1]:
        desks.wants(**inputs)
        as_json += desks.project.run("preview", "--json").stdout
        said += desks.project.run("up", "--yes", "--diff").stdout
    code = desks.resources("--show-secrets")["desk-note"]["inputs"]["__provider"]
    assert isinstance(code, dict) == (desks.language == "python")
    text = json.loads(code["plaintext"]) if isinstance(code, dict) else code
    assert "__provider" not in said
    assert text[:30] not in said + as_json + desks.project.run("stack").stdout


@pytest.mark.nightly
def test_the_programs_own_dynamic_resources_stay_live_beside_it(desks: Desks) -> None:
    desks.wants(text="one", live=True)
    desks.project.run(*UP)
    assert "unchanged" in desks.project.run(*UP).stdout
    resources = desks.resources("--show-secrets")
    assert '"maloko"' in json.loads(resources["live"]["inputs"]["__provider"]["plaintext"])
    desks.project.run(*DESTROY)
    assert (desks.notes(), desks.resources()) == ({}, {})
