#!/usr/bin/env python3
"""Programs in YAML and Go, with the real host of YAML and the real SDK of Go: made, changed, refreshed, destroyed.

    languages.py FOLDER --cli maloko [--size N]

FOLDER is what real.py made: `pulumi-language-yaml` and `go-program`; what is not there is left out, and said. Where
the real `pulumi` is there, both tools then take turns on one stack, command by command; for Go it needs a
`pulumi-language-go`, in FOLDER or on PATH. The resources are those of python-tests/support/mini_provider.py, whose
schema the host of YAML asks the engine for. With --size it measures instead: the program in Go with so many resources.
"""

import argparse
import itertools
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROVIDER = Path(__file__).resolve().parents[2] / "python-tests" / "support" / "mini_provider.py"
YAML = """
name: trial
runtime: yaml
config: {text: {type: string}, size: {type: integer}, chained: {type: boolean, default: true}}
variables:
  echoed: {fn::invoke: {function: mini:echo, arguments: {text: "${text}"}, return: text}}
resources:
  thing-0: {type: mini:Thing, properties: {text: "${echoed}"}}
  thing-1: {type: mini:Thing, properties: {text: "${thing-0.text}"}, options: {dependsOn: ["${thing-0}"]}}
outputs:
  length: ${thing-1.length}
"""
GO = "name: trial\nruntime: {name: go, options: {binary: %s}}\n"
LANGUAGES = {"yaml": "pulumi-language-yaml", "go": "go-program"}


class Stack:
    def __init__(self, options, language, tools):
        self.tools = itertools.cycle(tools)
        self.root = Path(tempfile.mkdtemp(prefix=f"languages-{language}-"))
        bin_ = self.root / "bin"
        for folder in (bin_, self.root / "home", self.root / "project"):
            folder.mkdir()
        plugin = bin_ / "pulumi-resource-mini"
        plugin.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{PROVIDER}" "$@"\n')
        plugin.chmod(0o755)
        program = YAML if language == "yaml" else GO % (options.folder / "go-program")
        (self.root / "project/Pulumi.yaml").write_text(program)
        self.env = {
            **os.environ,
            "HOME": str(self.root / "home"),
            "PULUMI_BACKEND_URL": f"file://{self.root}/home",
            "PULUMI_CONFIG_PASSPHRASE": "languages",
            # The real `pulumi` keeps which stack is selected in its own home.
            "PULUMI_STACK": "dev",
            "NO_COLOR": "1",
            "PATH": f"{bin_}:{options.folder}:{os.environ['PATH']}",
        }
        self.run("stack", "init", "dev")
        self.set(text="hello", size="2", chained="true")

    def set(self, **config):
        for key, value in config.items():
            self.run("config", "set", key, value)

    def run(self, *arguments):
        done = subprocess.run(
            [next(self.tools), *arguments], cwd=self.root / "project", env=self.env, text=True, capture_output=True
        )
        if done.returncode:
            raise SystemExit(f"{' '.join(arguments)} in {self.root}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def things(self):
        deployment = json.loads(self.run("stack", "export"))["deployment"]
        things = [it for it in deployment.get("resources", []) if it["type"] == "mini:index:Thing"]
        return {it["urn"].rpartition("::")[2]: it["outputs"] for it in things}


def judge(stack):
    """Raises where a turn is not as it has to be."""

    def same(found, wanted, what):
        if found != wanted:
            raise SystemExit(f"{what}: {found}, and not {wanted} ({stack.root})")

    def outputs(text):
        return {f"thing-{number}": {"text": text, "length": len(text)} for number in range(2)}

    stack.run("up", "--yes")
    same(stack.things(), outputs("hello"), "made")
    same(json.loads(stack.run("stack", "output", "--json")), {"length": 5}, "outputs")
    stack.run("preview", "--expect-no-changes")
    stack.set(text="changed")
    stack.run("up", "--yes", "--skip-preview")
    same(stack.things(), outputs("changed"), "changed")
    stack.run("refresh", "--yes", "--skip-preview")
    same(stack.things(), outputs("changed"), "refreshed")
    stack.run("destroy", "--yes", "--skip-preview")
    same(stack.things(), {}, "destroyed")


def take_turns(options, language):
    """The same with a command of maloko and one of `pulumi` by turns, and once more with the other one first."""
    pulumi, host = options.folder / "pulumi", f"pulumi-language-{language}"
    if not pulumi.exists() or not shutil.which(host, path=f"{options.folder}:{os.environ['PATH']}"):
        print(f"{language}: no turns with the real pulumi, because it or {host} is not there")
        return
    for tools in ([options.cli, pulumi], [pulumi, options.cli]):
        judge(Stack(options, language, tools))
    print(f"{language}: made, changed, refreshed and destroyed by both tools in turns", flush=True)


def measure(stack, size):
    stack.set(size=str(size), chained="false")
    for what in ("up", "up with nothing to do"):
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        stack.run("up", "--yes", "--skip-preview")
        wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"{what} of {size} resources: {wall:.2f} s, of processors {cpu:.2f} s", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cli", default="maloko")
    parser.add_argument("--size", type=int)
    options = parser.parse_args()
    options.folder = options.folder.resolve()
    for language, needed in LANGUAGES.items():
        if not (options.folder / needed).exists():
            print(f"{language}: left out, because {needed} is not there (make real-plugins)")
        elif options.size is None:
            judge(Stack(options, language, [options.cli]))
            print(f"{language}: made, changed, refreshed and destroyed", flush=True)
            take_turns(options, language)
        elif language == "go":
            measure(Stack(options, language, [options.cli]), options.size)


if __name__ == "__main__":
    main()
