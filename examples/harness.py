"""Drives the examples through the built command lines, as a user would: for tests, the demo and the kill test."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LANGUAGES = ("python", "nodejs")
TIMEOUT = 120


class Project:
    """A copy of an example in a folder of its own, with its own state."""

    def __init__(self, language: str, example: str, folder: Path) -> None:
        self.language = language
        self.folder = folder / example
        source = ROOT / "examples" / ("python" if language == "python" else "typescript")
        shutil.copytree(source / example, self.folder, ignore=shutil.ignore_patterns("node_modules", "__pycache__"))
        if language == "python":
            self.cli = ROOT / ".venv" / "bin" / "maloko"
        else:
            (self.folder / "node_modules").symlink_to(source / "node_modules")
            self.cli = source / "node_modules" / ".bin" / "maloko"
        (folder / "state").mkdir(exist_ok=True)
        self.env = {
            **os.environ,
            "PATH": f"{ROOT / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "PULUMI_BACKEND_URL": f"file://{folder / 'state'}",
            "PULUMI_CONFIG_PASSPHRASE": "examples",
        }

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs the command line and waits for it."""
        return subprocess.run(
            [self.cli, *arguments],
            cwd=self.folder,
            env=self.env,
            text=True,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=TIMEOUT,
        )

    def must(self, *arguments: str) -> str:
        """Runs a command that has to succeed; gives its standard output."""
        done = self.run(*arguments)
        if done.returncode != 0:
            raise AssertionError(f"maloko {' '.join(arguments)}: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def up(self) -> dict[str, int]:
        """Updates; gives the counts of the summary by operation."""
        return changes_of(self.must("up", "--yes", "--skip-preview", "--json"))

    def preview(self) -> dict[str, int]:
        """Previews; gives the counts that an update would have."""
        digest = json.loads(self.must("preview", "--json"))
        return {op: count for op, count in digest["changeSummary"].items() if count}

    def destroy(self) -> dict[str, int]:
        """Destroys; gives the counts of the summary by operation."""
        return changes_of(self.must("destroy", "--yes", "--skip-preview", "--json"))

    def outputs(self) -> Any:
        """The stack's outputs."""
        return json.loads(self.must("stack", "output", "--json"))

    def state(self) -> list[dict[str, Any]]:
        """The rows of the exported state."""
        exported = json.loads(self.must("stack", "export"))
        return exported["deployment"].get("resources") or []


def changes_of(events: str) -> dict[str, int]:
    """The counts of the last summary among engine events, one a line."""
    found: dict[str, int] = {}
    for line in events.splitlines():
        event = json.loads(line)
        if "summaryEvent" in event:
            found = {op: n for op, n in (event["summaryEvent"].get("resourceChanges") or {}).items() if n}
    return found


def labels_project(language: str, folder: Path, url: str, token: str | None = "right") -> Project:
    """The repository-labels example with a stack that points to a local service."""
    project = Project(language, "repository-labels", folder)
    project.must("stack", "init", "dev")
    project.must("config", "set", "githubApi", url)
    project.must("config", "set", "secondsBetweenWrites", "0")
    if token is not None:
        project.must("config", "set", "--secret", "githubToken", token)
    return project
