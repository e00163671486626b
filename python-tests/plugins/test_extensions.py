"""Packages that extend the package of a plugin, in that plugin."""

import itertools
import json
import os
import sys
from pathlib import Path

import pytest
from cli import Project

PLUGIN = Path(__file__).with_name("extending_plugin.py")
KILLED = -9
UP = ("up", "--yes", "--skip-preview")
DESTROY = ("destroy", "--yes", "--skip-preview")

PROGRAM = """
import os
import sys
from pathlib import Path

import pulumi

sys.path[:0] = [str(folder) for folder in Path(__file__).parent.glob("sdks/*")]
import pulumi_gadgets as gadgets
import pulumi_probe as probe

text = os.environ.get("TEXT", "hello")
options = None
if "EXPLICIT" in os.environ:
    provider = probe.Provider("other", region="there")
    options = pulumi.ResourceOptions(providers=[provider])
plain = probe.Thing("plain", text=text)
gadget = gadgets.Thing("gadget", text=text, opts=options)
pulumi.export("url", gadget.url)
pulumi.export("region", gadgets.region_output().region)
"""

# `KEEP` makes the gadget below the group, and `MIGRATE` has the state of both rewritten.
GROUPED = """
import os
import sys
from pathlib import Path

import pulumi

sys.path[:0] = [str(folder) for folder in Path(__file__).parent.glob("sdks/*")]
import pulumi_gadgets as gadgets

def rewrite(args):
    for resource in args.old_state:
        if "extensionRef" in resource:
            assert "extension" not in resource
            resource["inputs"]["text"] = "rewritten"
    return pulumi.StateMigrationResult(new_state=args.old_state)

migrations = [rewrite] if "MIGRATE" in os.environ else None
options = pulumi.ResourceOptions(state_migrations=migrations)
group = pulumi.ComponentResource("tests:index:Group", "group", None, options)
if "KEEP" in os.environ:
    gadgets.Thing("gadget", text="hello", opts=pulumi.ResourceOptions(parent=group))
"""

# Without an SDK: what a generated one does for a package that extends another one.
BARE = """
import base64
import os

import pulumi

async def gadgets():
    name = os.environ["NAME"]
    value = base64.b64encode(b"x").decode()
    return await pulumi.runtime.register_package("probe", "1.0.0", "", name, "2.5.0", value, extension=True)

class Thing(pulumi.CustomResource):
    def __init__(self, name):
        super().__init__(os.environ["NAME"] + ":index:Thing", name, {"text": "hello"}, package_ref=gadgets())

Thing("gadget")
"""


@pytest.fixture
def shop(project: Project) -> Project:
    """A project with the plugin at hand, and the outside world of that."""
    project.write("bin/pulumi-resource-probe", f'#!/bin/sh\nexec "{sys.executable}" "{PLUGIN}" "$@"\n').chmod(0o755)
    (project.directory / "world").mkdir()
    project.environment |= {
        "PATH": f"{project.directory}/bin:{os.environ['PATH']}",
        "PROBE_WORLD": str(project.directory / "world"),
    }
    return project


@pytest.fixture
def extended(shop: Project) -> Project:
    """With a program, and the SDKs of the plugin's own package and of one that extends it."""
    shop.run("package", "add", "--no-link", "probe")
    shop.run("package", "add", "--no-link", "probe", "gadgets")
    shop.write("__main__.py", PROGRAM)
    return shop


def calls(project: Project) -> list[dict[str, object]]:
    """What the plugin was called for since this was asked before."""
    file = project.directory / "world" / ".calls"
    noted = [json.loads(line) for line in file.read_text().splitlines()]
    file.unlink()
    return noted


def parameters(project: Project) -> list[tuple[object, object]]:
    """What the plugin's processes were extended by since this was asked before."""
    return [(call["name"], call["value"]) for call in calls(project) if call["method"] == "parameterize"]


def deployment(project: Project) -> dict[str, object]:
    exported = json.loads(project.run("stack", "export").stdout)
    return {"features": exported.get("features"), **exported["deployment"]}


def things(project: Project) -> dict[str, dict[str, object]]:
    resources = deployment(project).get("resources", [])
    assert isinstance(resources, list)
    return {it["urn"].rsplit("::", 1)[-1]: it for it in resources if it["type"].endswith(":Thing")}


def test_a_plugin_serves_its_package_and_one_that_extends_it(extended: Project) -> None:
    assert "pulumi:providers:gadgets" not in extended.run("preview").stdout
    parameters(extended)
    extended.run(*UP)

    assert parameters(extended) == [("gadgets", "what gadgets is")], "once for all that is of it"
    outputs = json.loads(extended.run("stack", "output", "--json").stdout)
    assert outputs == {"region": "none", "url": "http://here-gadget"}
    state = deployment(extended)
    assert state["features"] == ["extensionParameterization"]
    extensions = state["extensions"]
    assert isinstance(extensions, dict)
    ((reference, extension),) = extensions.items()
    assert extension == {"name": "gadgets", "version": "2.5.0", "value": "d2hhdCBnYWRnZXRzIGlz"}
    made = things(extended)
    assert made["gadget"]["extensionRef"] == reference
    assert "extensionRef" not in made["plain"]
    assert made["gadget"]["provider"] == made["plain"]["provider"]
    assert "3 unchanged" in extended.run(*UP).stdout

    # What is in the state is enough.
    parameters(extended)
    extended.run("refresh", "--yes", "--skip-preview")
    assert parameters(extended) == [("gadgets", "what gadgets is")]
    extended.run(*DESTROY)
    noted = calls(extended)
    assert [it["name"] for it in noted if it["method"] == "parameterize"] == ["gadgets"]
    assert "gadgets:index:Thing" in [it.get("token") for it in noted if it["method"] == "delete"]
    left = deployment(extended)
    assert (left["features"], left.get("extensions")) == (None, None)


def test_each_provider_of_the_package_is_extended(extended: Project) -> None:
    extended.run(*UP, EXPLICIT="yes")
    noted = [it for it in calls(extended) if it["method"] == "parameterize"]
    assert [it["name"] for it in noted] == ["gadgets", "gadgets"]
    assert len({it["process"] for it in noted}) == 2
    assert "pulumi:providers:probe::other" in str(things(extended)["gadget"]["provider"])


def test_a_run_that_was_killed_leaves_what_the_package_is_made_of(extended: Project) -> None:
    for point, at in itertools.product(("after-intent", "after-outcome"), range(2)):
        extended.run(*UP, code=KILLED, FAILPOINTS=f"kill::{point}={at}*off->1*return")
        extended.run("refresh", "--yes", "--skip-preview")
        extended.run(*UP)
        extended.run(*DESTROY)
        assert list((extended.directory / "world").glob("*.json")) == []


def test_a_state_that_lost_what_a_package_is_made_of_says_so(extended: Project) -> None:
    extended.run(*UP)
    file = extended.directory / "state.json"
    exported = json.loads(extended.run("stack", "export").stdout)
    reference, _ = exported["deployment"].pop("extensions").popitem()
    file.write_text(json.dumps(exported))
    extended.run("stack", "import", "--file", str(file))
    said = extended.failing(*DESTROY)
    assert "the state does not hold by what" in said
    assert reference in said
    # The program has it.
    extended.run(*UP)
    extended.run(*DESTROY)


def test_a_migration_of_the_state_leaves_what_the_package_is_made_of(extended: Project) -> None:
    extended.write("__main__.py", GROUPED)
    extended.run(*UP, KEEP="yes")
    said = extended.run(*UP, MIGRATE="yes").stdout
    assert "changed 1 resources of the state" in said
    assert "- 1 deleted" in said
    assert list((extended.directory / "world").glob("*.json")) == []


def test_an_object_of_such_a_package_is_imported_by_its_sdk(extended: Project) -> None:
    (extended.directory / "world" / "mine.json").write_text('{"text": "hello"}')
    extended.run("import", "gadgets:index:Thing", "gadget", "mine", "--yes", "--protect=false")
    assert parameters(extended)[-1] == ("gadgets", "what gadgets is")
    imported = things(extended)["gadget"]
    assert "extensionRef" in imported
    extended.run(*UP)
    assert things(extended)["gadget"]["id"] == "mine"
    assert things(extended)["gadget"]["provider"] == imported["provider"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("forbidden", "cannot be extended by the package 'forbidden': there is no such thing"),
        ("swapped", "cannot be extended by the package 'swapped': it made the package 'other' of that"),
    ],
)
def test_a_plugin_that_cannot_be_extended_fails_the_resource(shop: Project, name: str, reason: str) -> None:
    shop.write("__main__.py", BARE)
    assert f"the plugin of the package 'probe' {reason}" in shop.failing(*UP, NAME=name)
    assert list((shop.directory / "world").glob("*.json")) == []
