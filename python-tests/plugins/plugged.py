"""A project with a resource of a provider plugin beside a dynamic one: a real plugin in processes of its own."""

import json
import os
import select
import subprocess
import sys
from pathlib import Path

from cli import MAX_SECONDS, Project

PROBE = Path(__file__).parents[2] / "conformance" / "plugins" / "plugins" / "probe.py"

# `INPUTS` are inputs of the resource of the plugin, as JSON; `hush` makes a secret input of it, `file` an asset,
# `take` is an object to import.
PROGRAM = """
import json, os
import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider, UpdateResult

class Notes(ResourceProvider):
    def create(self, props):
        return CreateResult("note-1", {**props, "length": len(props["token"])})

    def update(self, id, olds, news):
        return UpdateResult({**news, "length": len(news["token"])})

class Note(Resource):
    length: pulumi.Output[int]

    def __init__(self, name, props):
        super().__init__(Notes(), name, {"length": None, **props})

class Thing(pulumi.CustomResource):
    url: pulumi.Output[str]
    token: pulumi.Output[str]

    def __init__(self, name, props, opts):
        super().__init__("probe:index:Thing", name, {"url": None, "token": None, **props}, opts)

inputs = json.loads(os.environ.get("INPUTS", "{}"))
if "hush" in inputs:
    inputs["say"] = pulumi.Output.secret(inputs.pop("hush"))
if "file" in inputs:
    inputs["file"] = pulumi.StringAsset(inputs["file"])
options = pulumi.ResourceOptions(import_=inputs.pop("take", None))
thing = Thing("thing", {"size": 1, **inputs}, options)
note = Note("note", {"token": thing.token, "url": thing.url, "text": inputs.get("text")})
pulumi.export("url", thing.url)
pulumi.export("token", thing.token)
pulumi.export("length", note.length)
"""

UP = ("up", "--yes", "--skip-preview")
DESTROY = ("destroy", "--yes", "--skip-preview")
TOKEN = "token-here-thing-1"


class Plugged:
    """A project with the program, and the outside world of its plugin."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.directory / "world"
        self.world.mkdir()
        project.write("__main__.py", PROGRAM)
        project.environment["PROBE_WORLD"] = str(self.world)
        self.pids = project.directory / "pids"

    def put_on_path(self, plugin: Path = PROBE) -> None:
        """Each process of the plugin writes down its id before it begins, and holds a pipe open as long as it lives."""
        os.mkfifo(self.project.directory / "alive")
        self.alive = os.open(self.project.directory / "alive", os.O_RDONLY | os.O_NONBLOCK)
        script = (
            f'#!/bin/sh\necho $$ >> "{self.pids}"\nexec 9> "{self.project.directory}/alive"\n'
            f'exec "{sys.executable}" "{plugin}" "$@"\n'
        )
        self.project.write("bin/pulumi-resource-probe", script).chmod(0o755)
        self.project.environment["PATH"] = f"{self.project.directory}/bin:{os.environ['PATH']}"

    def objects(self) -> list[str]:
        return sorted(path.stem for path in self.world.iterdir())

    def resources(self) -> list[str]:
        """The names of the resources in the state, without the stack and providers."""
        states = json.loads(self.project.run("stack", "export").stdout)["deployment"].get("resources", [])
        own = ("pulumi:pulumi:Stack", "pulumi:providers:")
        return [resource["urn"].rsplit("::", 1)[-1] for resource in states if not resource["type"].startswith(own)]

    def written(self) -> str:
        """All that was written about the stack: state, journal and history."""
        files = [path for path in (self.project.directory / ".maloko").rglob("*") if path.is_file()]
        return "\n".join(path.read_bytes().decode(errors="replace") for path in files)

    def ends(self) -> None:
        """Waits until no process of the plugin is left; there was at least one."""
        assert self.pids.read_text().split()
        poll = select.poll()
        poll.register(self.alive, 0)
        assert poll.poll(MAX_SECONDS * 1000), "processes of the plugin are left"


def is_alive(pid: str) -> bool:
    """Is it in the table of processes, and not only because nobody has asked for its exit code?"""
    said = subprocess.run(["ps", "-o", "stat=", "-p", pid], capture_output=True, text=True, check=False)
    return bool(said.stdout.strip()) and not said.stdout.strip().startswith("Z")


def inputs(**values: object) -> str:
    return json.dumps(values)
