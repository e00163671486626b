"""A project whose program is a list of steps, run by a host by script (`scripted_host.py`)."""

import json
import os
import sys
from pathlib import Path
from typing import Any

from cli import Project

HOST = Path(__file__).with_name("scripted_host.py")
PLUGIN = Path(__file__).with_name("mini_provider.py")
STACK = ["stack"]
SIGNAL = ["signal"]


class Scripted:
    """A project whose program is a list of steps."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.seen_file = project.directory / "seen"
        self.environment = {"SCRIPTED_SEEN": str(self.seen_file), "PATH": self.folder_with_host()}

    def folder_with_host(self) -> str:
        host = self.project.write("bin/pulumi-language-scripted", f'#!/bin/sh\nexec {sys.executable} {HOST} "$@"\n')
        host.chmod(0o755)
        return f"{host.parent}:{os.environ['PATH']}"

    def steps(self, *steps: list[Any], name: str = "trial", **options: Any) -> None:
        settings = {"name": name, "runtime": {"name": "scripted", "options": {"steps": steps, **options}}}
        self.project.write("Pulumi.yaml", json.dumps(settings))

    def add_provider(self) -> None:
        """Puts the plugin of the package `mini` on the path."""
        file = self.project.write("bin/pulumi-resource-mini", f'#!/bin/sh\nexec {sys.executable} {PLUGIN} "$@"\n')
        file.chmod(0o755)
        self.environment["MINI_SEEN"] = str(self.project.directory / "asked")

    def asked_of_provider(self) -> list[str]:
        """What the plugin was asked, in order, as `METHOD NAME`."""
        return [line.strip() for line in (self.project.directory / "asked").read_text().splitlines()]

    def resources(self, project: str = "") -> list[dict[str, Any]]:
        """The resources in the state of the stack `dev`."""
        file = self.project.directory / ".maloko" / ".pulumi" / "stacks" / project / "dev.json"
        state = json.loads(file.read_text() if project else self.project.state())
        resources: list[dict[str, Any]] = state["checkpoint"]["latest"].get("resources", [])
        return resources

    def run(self, *arguments: str, code: int | None = 0, **environment: str) -> str:
        self.seen_file.unlink(missing_ok=True)
        done = self.project.run(*arguments, code=code, **{**self.environment, **environment})
        return done.stdout + done.stderr

    def up(self, *steps: list[Any], code: int | None = 0, **environment: str) -> str:
        self.steps(*steps)
        return self.run("up", "--yes", "--skip-preview", code=code, **environment)

    def seen(self, what: str | None = None) -> list[dict[str, Any]]:
        notes = (
            [json.loads(line) for line in self.seen_file.read_text().splitlines()] if self.seen_file.exists() else []
        )
        return [note for note in notes if what in (None, note["what"])]

    def names(self) -> list[str]:
        return [resource["urn"].rpartition("::")[2] for resource in self.resources()]
