#!/usr/bin/env python3
"""Adopts a state that the reference engine wrote, with its program, configuration and world (states/LANGUAGE).

    adopt.py --cli maloko --lang python
    adopt.py --cli maloko --lang nodejs --node-modules DIR

A preview and an update must find nothing to do, an update must change what the program changed, a destroy must empty
the world; and every provider call must come from today's program: the copy that runs here marks its calls, which the
code in the state does not. The checkpoint is that of another tool, so it is read where it lies, and its secrets need
the passphrase that the states were made with.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
MARKS = {
    "python": ("__main__.py", '{"label": label, ', '{"live": True, "label": label, '),
    "nodejs": ("provider.ts", "JSON.stringify({ label, ", "JSON.stringify({ live: true, label, "),
}


class Adopted:
    """A copy of a recorded stack, driven through the command line under test."""

    def __init__(self, cli: list[str], language: str, node_modules: str | None, folder: Path) -> None:
        self.cli, self.language, self.folder = cli, language, folder
        self.project = folder / "project"
        recorded = HERE / "states" / language
        shutil.copytree(HERE / "program" / language, self.project)
        shutil.copytree(recorded / "backend", folder / "backend")
        shutil.copy(recorded / "Pulumi.dev.yaml", self.project)
        if node_modules is not None:
            (self.project / "node_modules").symlink_to(Path(node_modules).resolve())
        name, before, after = MARKS[language]
        text = (self.project / name).read_text()
        if before not in text:
            raise AssertionError(f"{name} has no place for the mark: {before}")
        (self.project / name).write_text(text.replace(before, after))
        self.program: dict[str, Any] = json.loads((recorded / "program.json").read_text())
        self.calls, self.world, self.step = (folder / name for name in ("calls.jsonl", "world.json", "step.json"))
        shutil.copy(recorded / "world.json", self.world)
        self.env = {
            **os.environ,
            "PULUMI_BACKEND_URL": f"file://{folder / 'backend'}",
            "PULUMI_CONFIG_PASSPHRASE": "conformance",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "CONFORMANCE_CALLS": str(self.calls),
            "CONFORMANCE_WORLD": str(self.world),
            "CONFORMANCE_STEP": str(self.step),
        }

    def run(self, *arguments: str) -> str:
        """Runs a command that has to succeed, with the present program; gives its standard output."""
        self.step.write_text(json.dumps(self.program))
        self.calls.write_text("")
        done = subprocess.run(
            [*self.cli, *arguments, "--stack", "dev"],
            cwd=self.project,
            env=self.env,
            text=True,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=180,
            check=False,
        )
        if done.returncode != 0:
            raise AssertionError(
                f"{shlex.join(arguments)}: exit {done.returncode}\n{done.stdout[-4000:]}\n{done.stderr}"
            )
        stale = [call for call in self.made_calls() if not call.get("live")]
        if stale:
            raise AssertionError(f"code from the state was run: {stale}")
        return done.stdout

    def made_calls(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.calls.read_text().splitlines()]

    def methods(self) -> set[str]:
        return {call["method"] for call in self.made_calls()}

    def objects(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.world.read_text())["objects"]
        return found


def changes_of(events: str) -> dict[str, int]:
    """The counts of the summary among engine events."""
    for line in events.splitlines():
        event = json.loads(line)
        if "summaryEvent" in event:
            return {op: n for op, n in (event["summaryEvent"].get("resourceChanges") or {}).items() if n}
    raise AssertionError(f"there is no summary in\n{events}")


def expect(what: str, got: object, wanted: object) -> None:
    if got != wanted:
        raise AssertionError(f"{what}:\n    expected {wanted}\n    got      {got}")
    print(f"ok   {what}", flush=True)


def check(stack: Adopted) -> None:
    # One call at a time: the program keeps its world in a file.
    update = ("up", "--yes", "--skip-preview", "--json", "--parallel", "1")
    quiet = {"configure", "check", "diff"}
    world = copy.deepcopy(stack.objects())

    preview = json.loads(stack.run("preview", "--json", "--parallel", "1"))
    expect("the preview finds no change", {k: n for k, n in preview["changeSummary"].items() if n}, {"same": 6})
    expect("the update changes nothing", changes_of(stack.run(*update)), {"same": 6})
    expect("no method that changes things was called", stack.methods() - quiet, set())
    expect("the world is as it was", stack.objects(), world)
    again = json.loads(stack.run("stack", "export"))["deployment"]["resources"]
    expect("the state has every resource", len([state for state in again if "providers:" not in state["type"]]), 6)

    size = next(resource for resource in stack.program["resources"] if resource["name"] == "a")["props"]
    size["size"] = 11
    expect("a changed property is an update", changes_of(stack.run(*update)), {"same": 5, "update": 1})
    expect("the world has the change", stack.objects()["p-1"]["size"], 11)

    urn = next(state["urn"] for state in again if state["urn"].endswith("::b"))
    stack.run("state", "unprotect", urn, "--yes")
    stack.run("destroy", "--yes", "--skip-preview", "--json", "--parallel", "1")
    expect("a destroy empties the world", stack.objects(), {})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cli", required=True)
    parser.add_argument("--lang", required=True, choices=list(MARKS))
    parser.add_argument("--node-modules")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="adopt-") as folder:
        try:
            check(Adopted(shlex.split(options.cli), options.lang, options.node_modules, Path(folder)))
        except AssertionError as error:
            sys.exit(f"FAIL adoption, {options.lang}: {error}")
    print(f"adoption, {options.lang}: passed")


if __name__ == "__main__":
    main()
