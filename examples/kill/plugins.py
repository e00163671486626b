"""Kills an `up` whose resources a plugin makes at random moments, and sees that the next one sets everything right.

    python -m examples.kill.plugins --lang python --kills 50 --seed 1

Half of the resources are of the package's default provider, half of an explicit one. In every other round the killed
`up` makes them all; in the others it replaces the explicit provider, and with it what that serves. The outside world of
the plugin (conformance/plugins/plugins/probe.py) is a folder. The command line alone is killed (SIGKILL), some
milliseconds after a number of objects has been made, both drawn from the seed. Then:

- no process of the plugin is left;
- the next `up` succeeds, and the world holds exactly the objects of the program;
- each object that was there and not in the state was named by this `up`, as one whose creation was interrupted;
- each resource names a provider that is in the state; one more `up` changes nothing; a destroy leaves the world empty.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from examples.harness import LANGUAGES, ROOT, Project, changes_of

THINGS = [f"thing-{number:02}" for number in range(16)]
PLUGIN = ROOT / "conformance" / "plugins" / "plugins" / "probe.py"
# How long the plugin takes for each object, in seconds.
DELAY = 0.03
PATIENCE = 60.0

PYTHON = """
import os

import pulumi


class Thing(pulumi.CustomResource):
    def __init__(self, name, provider):
        inputs = {"url": None, "text": name, "sleep": %(delay)s, "sleepIn": "create"}
        super().__init__("probe:index:Thing", name, inputs, pulumi.ResourceOptions(provider=provider))


explicit = pulumi.ProviderResource("probe", "explicit", {"region": os.environ["REGION"]})
for number, name in enumerate(%(things)s):
    Thing(name, explicit if number %% 2 else None)
"""

TYPESCRIPT = """
import * as pulumi from "@pulumi/pulumi";

class Thing extends pulumi.CustomResource {
    constructor(name: string, provider: pulumi.ProviderResource | undefined) {
        const inputs = { url: undefined, text: name, sleep: %(delay)s, sleepIn: "create" };
        super("probe:index:Thing", name, inputs, { provider });
    }
}

class Explicit extends pulumi.ProviderResource {}

const explicit = new Explicit("probe", "explicit", { region: process.env.REGION });
%(things)s.forEach((name, number) => new Thing(name, number %% 2 ? explicit : undefined));
"""


def wanted(region: str) -> set[str]:
    """The ids of the program's objects."""
    return {f"{region if number % 2 else 'here'}-{name}" for number, name in enumerate(THINGS)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lang", required=True, choices=LANGUAGES)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    failed = 0
    for number in range(1, options.kills + 1):
        replaces = number % 2 == 0
        after, pause = draw.randint(0, len(THINGS) // (2 if replaces else 1)), draw.uniform(0, 2 * DELAY)
        with tempfile.TemporaryDirectory(prefix="maloko-kill-") as name:
            try:
                line = Round(options.lang, Path(name)).kill(replaces, after, pause)
            except AssertionError as error:
                line, failed = f"FAILED: {error}", failed + 1
        print(f"kill {number:2} of {options.kills}, {options.lang}, plugin: {line}", flush=True)
    print(f"{options.kills} kills, {options.lang}, plugin, seed {options.seed}: {failed} failed")
    sys.exit(1 if failed else 0)


class Round:
    """One stack, with the world of its plugin."""

    def __init__(self, language: str, folder: Path) -> None:
        self.world, self.pids = folder / "world", folder / "pids"
        self.world.mkdir()
        place = folder / "program"
        place.mkdir()
        (place / "Pulumi.yaml").write_text(f"name: kills\nruntime: {language}\n")
        if language == "python":
            (place / "__main__.py").write_text(PYTHON % {"delay": DELAY, "things": THINGS})
            cli = ROOT / ".venv" / "bin" / "maloko"
        else:
            modules = ROOT / "examples" / "typescript" / "node_modules"
            (place / "index.ts").write_text(TYPESCRIPT % {"delay": DELAY, "things": THINGS})
            (place / "package.json").write_text("{}")
            (place / "node_modules").symlink_to(modules)
            cli = modules / ".bin" / "maloko"
        path = folder / "bin"
        path.mkdir()
        python = ROOT / ".venv" / "bin" / "python"
        plugin = path / "pulumi-resource-probe"
        plugin.write_text(f'#!/bin/sh\necho $$ >> "{self.pids}"\nexec "{python}" "{PLUGIN}" "$@"\n')
        plugin.chmod(0o755)
        without = {name: value for name, value in os.environ.items() if not name.startswith(("PULUMI", "MALOKO"))}
        self.project = object.__new__(Project)
        self.project.language, self.project.folder, self.project.cli = language, place, cli
        self.project.env = {
            **without,
            "HOME": str(folder / "home"),
            "PATH": f"{path}{os.pathsep}{os.environ['PATH']}",
            "PROBE_WORLD": str(self.world),
            "REGION": "east",
        }
        self.project.must("stack", "init", "dev")

    def objects(self) -> set[str]:
        return {path.stem for path in self.world.glob("*.json")}

    def known(self) -> set[str]:
        """The ids in the state; each resource has to name a provider that is there."""
        resources = self.project.state()
        providers = {
            f"{resource['urn']}::{resource['id']}"
            for resource in resources
            if resource["type"] == "pulumi:providers:probe"
        }
        things = [resource for resource in resources if resource["type"] == "probe:index:Thing"]
        for resource in things:
            expect(
                resource["provider"] in providers,
                f"{resource['urn']} names {resource['provider']}, which is not in the state",
            )
        return {resource["id"] for resource in things}

    def kill(self, replaces: bool, after: int, pause: float) -> str:
        """Kills one run; gives the line to print, raises AssertionError when the next one did not set things right."""
        project, region = self.project, "east"
        if replaces:
            project.up()
            region = project.env["REGION"] = "west"
        before = self.objects()
        seconds, finished = self.killed(before, after, pause)
        made = self.objects() - before
        unresolved = self.objects() - self.known()
        done = project.run("up", "--yes", "--skip-preview", "--json")
        said = done.stdout + done.stderr
        expect(done.returncode == 0, f"the next up failed with exit code {done.returncode}\n{said}")
        unnamed = [id_ for id_ in sorted(unresolved) if not is_named(id_.partition("-")[2], said)]
        expect(not unnamed, f"in no state, and not named: {unnamed}\n{said}")
        same("objects after the next up", self.objects(), wanted(region))
        same("ids in the state after it", self.known(), wanted(region))
        same("a third up", set(project.up()), {"same"})
        project.destroy()
        same("objects after the destroy", self.objects(), set())
        self.no_plugin_is_left()
        changes = changes_of(done.stdout)
        what = "replacing" if replaces else "creating"
        end = "had ended" if finished else f"{len(made)} objects made"
        then = changes.get("replace", 0) if replaces else changes.get("create", 0)
        return (
            f"{seconds:6.3f} s after the start, {what}, {end}; then {then} made, {len(unresolved)} of them unresolved"
        )

    def killed(self, before: set[str], after: int, pause: float) -> tuple[float, bool]:
        """Starts an `up`, and kills it `pause` seconds after so many objects were made; when, and had it ended?"""
        begin = time.monotonic()
        process = subprocess.Popen(
            [self.project.cli, "up", "--yes", "--skip-preview"],
            cwd=self.project.folder,
            env=self.project.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while len(self.objects() - before) < after and process.poll() is None:
            expect(time.monotonic() - begin < PATIENCE, f"{after} objects were never made")
            time.sleep(0.0005)
        time.sleep(pause)
        seconds, finished = time.monotonic() - begin, process.poll() is not None
        process.kill()
        process.wait()
        # What the plugin was at when its engine was gone, it may still do.
        self.no_plugin_is_left()
        return seconds, finished

    def no_plugin_is_left(self) -> None:
        end = time.monotonic() + PATIENCE
        while left := [pid for pid in self.started() if is_alive(pid)]:
            expect(time.monotonic() < end, f"processes of the plugin are left: {left}")
            time.sleep(0.02)

    def started(self) -> list[str]:
        return self.pids.read_text().split() if self.pids.exists() else []


def is_alive(pid: str) -> bool:
    """Is it in the table of processes, and not only because nobody has asked for its exit code?"""
    said = subprocess.run(["ps", "-o", "stat=", "-p", pid], capture_output=True, text=True, check=False).stdout.strip()
    return bool(said) and not said.startswith("Z")


def is_named(name: str, said: str) -> bool:
    """Whether a line of the output names the resource and says that its create was interrupted."""
    return any(name in line and "interrupted while" in line for line in said.splitlines())


def expect(true: bool, what: str) -> None:
    if not true:
        raise AssertionError(what)


def same(what: str, got: object, wanted: object) -> None:
    expect(got == wanted, f"{what}: expected {wanted}, got {got}")


if __name__ == "__main__":
    main()
