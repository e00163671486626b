"""Plugins that hang or never stop talking: docs/internals/hostile-providers.md lists them, with the tests of those that
die or return rubbish (`plugins/test_faults.py`)."""

import json
import os
import sys
from pathlib import Path

import pytest
from cli import Project

PLUGINS = Path(__file__).parents[2] / "conformance" / "plugins" / "plugins"

PROGRAM = """
import json, os
import pulumi

class Thing(pulumi.CustomResource):
    def __init__(self, name, props, opts=None):
        super().__init__("probe:index:Thing", name, {"url": None, **props}, opts)

Thing("other", {})
limit = pulumi.CustomTimeouts(create="2s", update="2s", delete="2s")
Thing("thing", json.loads(os.environ.get("INPUTS", "{}")), pulumi.ResourceOptions(custom_timeouts=limit))
"""

UP = ("up", "--yes", "--skip-preview")
DESTROY = ("destroy", "--yes", "--skip-preview")
BOTH = ["here-other", "here-thing"]


class Hostile:
    """A project with two resources of a plugin, and their outside world."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.directory / "world"
        self.world.mkdir()
        project.write("__main__.py", PROGRAM)
        project.environment |= {
            "PATH": f"{project.directory}/bin:{os.environ['PATH']}",
            "PROBE_WORLD": str(self.world),
        }
        self.serve(f"{PLUGINS}/probe.py")

    def serve(self, *command: str) -> None:
        words = " ".join(f'"{word}"' for word in (sys.executable, *command))
        self.project.write("bin/pulumi-resource-probe", f'#!/bin/sh\nexec {words} "$@"\n').chmod(0o755)

    def objects(self) -> list[str]:
        return sorted(path.stem for path in self.world.iterdir())


@pytest.fixture
def hostile(project: Project) -> Hostile:
    return Hostile(project)


def hanging(method: str, **values: object) -> str:
    return json.dumps({"sleep": 3600, "sleepIn": method, **values})


def test_a_create_of_a_plugin_that_hangs_is_given_up_and_may_have_happened(hostile: Hostile) -> None:
    project = hostile.project
    said = project.failing(*UP, INPUTS=hanging("create"))
    assert "thing failed to create" in said
    assert "took longer than the 2s" in said
    assert hostile.objects() == ["here-other"]
    assert "1 unresolved create, whose object may exist" in project.run("stack").stdout
    assert "an earlier run was interrupted while creating this resource" in project.run(*UP).stdout
    assert hostile.objects() == BOTH


# By day a create is given up.
@pytest.mark.nightly
@pytest.mark.parametrize("method", ["update", "delete"])
def test_another_call_of_a_plugin_that_hangs_is_given_up_too(hostile: Hostile, method: str) -> None:
    project = hostile.project
    project.run(*UP, INPUTS="{}" if method == "update" else hanging("delete"))
    command = UP if method == "update" else DESTROY
    assert "took longer than the 2s" in project.failing(*command, INPUTS=hanging("update", text="a"))
    assert "here-thing" in hostile.objects()
    project.run(*UP, INPUTS=json.dumps({"text": "b"}))
    project.run(*DESTROY)
    assert hostile.objects() == []


def test_a_plugin_that_never_stops_talking_costs_no_memory_and_no_run(hostile: Hostile) -> None:
    grown = hostile.project.directory / "grown"
    hostile.serve(f"{PLUGINS}/flood.py", f"{PLUGINS}/probe.py")
    said = hostile.project.run(*UP, FLOOD_GROWN=str(grown))
    assert "a line that nobody asked for" not in said.stdout + said.stderr
    assert hostile.objects() == BOTH
    assert int(grown.read_text()) < 32 << 10, "KB that the engine grew by, of a line of 128 MB"
    hostile.project.run(*DESTROY, FLOOD_GROWN=str(grown))
    assert hostile.objects() == []
