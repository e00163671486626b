#!/usr/bin/env python3
"""The real `pulumi` and maloko in turns on one stack: real plugins, a shared backend, one passphrase, mixed resources.

    turns.py FOLDER --cli maloko --lang python,nodejs --node-modules DIR [--keep]

FOLDER is what real.py made. Each story is a list of operations; a preview must find nothing to do, and what one tool
left, the other one must keep as it is: every resource state is compared before and after an operation that changes
nothing.
"""

import argparse
import difflib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from run import HERE
from seen import strip

# Who does what, at which stage of the program. `hand` writes the state for pulumi, with code for maloko's references.
ALONE = [("up", 1), ("up", 2), ("up", 3), ("refresh", 3), ("destroy", 3)]
STORIES = {
    "pulumi first": [
        ("pulumi", "up", 1),
        ("maloko", "nothing", 1),
        ("maloko", "up-same", 1),
        ("maloko", "up", 2),
        ("maloko", "hand", 2),
        ("pulumi", "nothing", 2),
        ("pulumi", "up", 3),
        ("maloko", "refresh", 3),
        ("maloko", "nothing", 3),
        ("maloko", "hand", 3),
        ("pulumi", "destroy", 3),
    ],
    "maloko first": [
        ("maloko", "up", 1),
        ("maloko", "hand", 1),
        ("pulumi", "nothing", 1),
        ("pulumi", "up", 2),
        ("maloko", "nothing", 2),
        ("maloko", "up", 3),
        ("maloko", "hand", 3),
        ("pulumi", "refresh", 3),
        ("pulumi", "nothing", 3),
        ("maloko", "destroy", 3),
    ],
    "pulumi alone": [("pulumi", *step) for step in ALONE],
    "maloko alone": [("maloko", *step) for step in ALONE],
}


class Stack:
    program = "turns"  # the folder of what is deployed, and the project's name
    failing = ()  # operations that fail, and change nothing

    def __init__(self, options, language):
        self.options, self.language = options, language
        self.root = Path(tempfile.mkdtemp(prefix=f"{self.program}-{language}-"))
        self.project = self.root / "project"
        for folder in ("project", "state", "home"):
            (self.root / folder).mkdir()
        self.env = {
            **os.environ,
            "PULUMI_HOME": str(self.root / "home"),
            "PULUMI_BACKEND_URL": f"file://{self.root}/state",
            "PULUMI_CONFIG_PASSPHRASE": "in turns",
            "PULUMI_SKIP_UPDATE_CHECK": "1",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "PULUMI_NODEJS_TRANSPILE_ONLY": "true",
            "NO_COLOR": "1",
            "PATH": f"{options.folder.resolve()}:{os.environ['PATH']}",
        }
        self.env.pop("MALOKO_BACKEND_URL", None)
        settings = {"name": self.program, "runtime": language}
        (self.project / "Pulumi.yaml").write_text(json.dumps(settings))
        if language == "python":
            shutil.copy(HERE / self.program / "__main__.py", self.project)
        else:
            shutil.copy(HERE / self.program / "index.ts", self.project)
            (self.project / "package.json").write_text(
                json.dumps({"name": self.program, "main": "index.ts", "dependencies": {"@pulumi/pulumi": "*"}})
            )
            strict = {"target": "es2020", "module": "commonjs", "moduleResolution": "node", "strict": False}
            (self.project / "tsconfig.json").write_text(json.dumps({"compilerOptions": strict}))
            self.link(Path(options.node_modules).resolve())

    def link(self, modules):
        """What is installed, by links, so that SDKs have a place beside it."""
        mine = self.project / "node_modules"
        (mine / "@pulumi").mkdir(parents=True)
        for entry in [*modules.iterdir(), *(modules / "@pulumi").iterdir()]:
            if entry.name != "@pulumi":
                (mine / entry.relative_to(modules)).symlink_to(entry)

    def end(self):
        if self.options.keep:
            print(self.root)
        else:
            shutil.rmtree(self.root)

    def run(self, tool, *arguments, stage=1, text=None, fails=False):
        command = "pulumi" if tool == "pulumi" else self.options.cli
        done = subprocess.run(
            [command, *arguments],
            cwd=self.project,
            env={**self.env, "STAGE": str(stage)},
            text=True,
            input=text,
            stdin=None if text else subprocess.DEVNULL,
            capture_output=True,
            timeout=600,
        )
        good = bool(done.returncode) == fails
        if self.options.verbose or not good:
            print(f"$ {tool} {' '.join(arguments)} (stage {stage})\n{done.stdout}{done.stderr}", file=sys.stderr)
        if not good:
            ended = f"ended with {done.returncode}; see {self.root}"
            raise SystemExit(f"{self.language}: {tool} {' '.join(arguments)} {ended}")
        return done.stdout

    def exported(self, tool):
        return json.loads(self.run(tool, "stack", "export", "--show-secrets", "--stack", "dev"))["deployment"]

    def resources(self):
        """The resource states, by URN, with their secrets in plain text."""
        state = self.exported("pulumi")
        if state.get("pending_operations"):
            raise SystemExit(f"pending operations: {state['pending_operations']}")
        return resources_of(state)

    def hand(self, stage=1):
        """Writes the state for pulumi, with code for maloko's references."""
        text = self.run("maloko", "stack", "export", "--for-pulumi", "--stack", "dev", stage=stage)
        self.run("pulumi", "stack", "import", "--stack", "dev", stage=stage, text=text)

    def step(self, tool, what, stage):
        before = self.resources()
        if what == "hand":
            self.hand(stage)
        elif what == "nothing":
            self.run(tool, "preview", "--diff", "--expect-no-changes", "--stack", "dev", stage=stage)
        else:
            same = ["--expect-no-changes"] if what == "up-same" else []
            op = what.removesuffix("-same")
            fails = op in self.failing
            self.run(tool, op, "--yes", "--skip-preview", "--stack", "dev", *same, stage=stage, fails=fails)
        after = self.resources()
        changes = [] if what in ("up", "destroy") else changed(before, after)
        found = ", DIFFERENT" if changes else ""
        print(f"{self.language}: {tool} {what} {stage}: {len(after)} resources{found}", flush=True)
        for line in changes:
            print("  ", line)
        return after, changes


def resources_of(state):
    return {resource["urn"]: strip(resource) for resource in state.get("resources") or []}


def changed(before, after):
    """Lines of a difference between two states; code and references of dynamic providers stand as one.

    A refresh of Pulumi's drops properties from their list that depend on nothing, and its next update puts them back.
    """
    texts = [json.dumps(full(resources), indent=1, sort_keys=True).splitlines() for resources in (before, after)]
    return list(difflib.unified_diff(*texts, "before", "after", lineterm="", n=1))


def full(resources):
    kept = {}
    for urn, resource in resources.items():
        listed = resource.get("propertyDependencies", {})
        needs = {name: urns for name, urns in listed.items() if urns and name != "__provider"}
        kept[urn] = {**resource, "propertyDependencies": needs}
    return kept


def shape(value):
    """A value without what is random: its members, and the kinds of the rest."""
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    return [shape(item) for item in value] if isinstance(value, list) else type(value).__name__


def alike(resources):
    """Resource states in a form in which those of two stacks can be compared: without ids and values."""
    result = {}
    for urn, resource in full(resources).items():
        kept = {key: item for key, item in resource.items() if key not in ("id", "provider")}
        result[urn] = {**kept, **{key: shape(resource[key]) for key in ("inputs", "outputs") if key in resource}}
    return result


def take_turns(kind, options, language):
    """All stories of a language, or those asked for; and how many differences there were."""
    bad, left = 0, {}
    for story in options.story or STORIES:
        print(f"{language}: {story}")
        stack = kind(options, language)
        stack.run(STORIES[story][0][0], "stack", "init", "dev")
        states = []
        for step in STORIES[story]:
            after, changes = stack.step(*step)
            states.append(after)
            bad += bool(changes)
        left[story] = states
        stack.end()
    if {"pulumi alone", "maloko alone"} <= set(left):
        for number, (theirs, ours) in enumerate(zip(left["pulumi alone"], left["maloko alone"], strict=True)):
            bad += compare(f"{language}: both tools alone, step {number}", theirs, ours)
    return bad


def compare(title, theirs, ours):
    """Whether the states of two stacks are different; both are shown, then."""
    lines = changed(alike(theirs), alike(ours))
    print(f"{title}{': DIFFERENT' if lines else ''}", flush=True)
    for line in lines:
        print("  ", line)
    return bool(lines)


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cli", default="maloko")
    parser.add_argument("--lang", default="python,nodejs")
    parser.add_argument("--node-modules", default="node_modules")
    parser.add_argument("--story", action="append", choices=STORIES)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--keep", action="store_true")
    return parser


def main():
    options = arguments().parse_args()
    bad = sum(take_turns(Stack, options, language) for language in options.lang.split(","))
    print(f"{bad} differences")
    raise SystemExit(bool(bad))


if __name__ == "__main__":
    main()
