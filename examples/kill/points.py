"""Kills an `up` at each named point of its journal's life, with a real SIGKILL, and sees that no object is lost, and
none is there twice without having been named.

    make kill-points
    python -m examples.kill.points --lang python [--store s3] [--point after-intent:3]

It takes the build that tests run, which knows the points (`engine-core/src/fail_points.rs`); with a release no run
comes to one. The objects are files of a directory. The killed run creates,
updates, replaces and deletes, and is killed when it comes to a point for the first time, the second time, and so on
until it ends by itself. Then:

- the next `up` succeeds, and what the state says is there is there;
- an object that is not in the state belongs to a resource that this `up` has named, and whose provider has no `find`;
- one more `up` changes nothing; a destroy leaves nothing but what was named.

Where a store waits for a sign of life of the holder that was killed, several points are tried at a time (`--jobs`).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from examples.harness import LANGUAGES, ROOT, changes_of
from examples.kill.stores import STORES, Environment, store

POINTS = (
    "before-intent",
    "within-record",
    "before-note",
    "after-intent",
    "before-outcome",
    "after-outcome",
    "before-fold",
    "after-fold-record",
    "after-first-seal",
    "after-checkpoint",
    "after-second-seal",
    "before-release",
    "after-release",
)
# Only files are written in parts: the others take a batch of records in one request.
IN_FILES_ONLY = {"within-record"}
NODE_MODULES = ROOT / "node-tests" / "node_modules"
VARIABLE = "FAILPOINTS"
ONCE = ("--yes", "--skip-preview", "--stack", "dev")
# Those whose provider can look for what an earlier create made.
FINDABLE = {"findable"}

PYTHON = """
import json
import uuid
from pathlib import Path

import pulumi
from maloko import current_call
from pulumi.dynamic import CreateResult, DiffResult, ReadResult, Resource, ResourceProvider, UpdateResult

HERE = Path(__file__).parent
OBJECTS = HERE / "objects"


class Keeper(ResourceProvider):
    def create(self, props):
        made = f"{props['name']}-{uuid.uuid4().hex[:8]}"
        (OBJECTS / made).write_text(json.dumps({**props, "key": current_call().operation_key}))
        return CreateResult(made, props)

    def diff(self, _id, olds, news):
        return DiffResult(changes=olds != news, replaces=["zone"] if olds["zone"] != news["zone"] else [])

    def update(self, id_, _olds, news):
        (OBJECTS / id_).write_text(json.dumps(news))
        return UpdateResult(news)

    def delete(self, id_, _props):
        (OBJECTS / id_).unlink(missing_ok=True)


class Finder(Keeper):
    def find(self, key, _props):
        for file in OBJECTS.iterdir():
            found = json.loads(file.read_text())
            if found.pop("key", None) == key:
                return ReadResult(file.name, found)
        return None


class Thing(Resource):
    def __init__(self, name, size=1, zone="a", provider=Keeper, after=()):
        props = {"name": name, "size": size, "zone": zone}
        super().__init__(provider(), name, props, pulumi.ResourceOptions(depends_on=list(after)))


if (HERE / "second").exists():
    kept = Thing("kept")
    changed = Thing("changed", size=2, after=[kept])
    replaced = Thing("replaced", zone="b", after=[changed])
    findable = Thing("findable", provider=Finder, after=[replaced])
    Thing("new", after=[findable])
else:
    kept = Thing("kept")
    Thing("changed")
    Thing("replaced")
    Thing("gone", after=[kept])
"""

TYPESCRIPT = """
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { currentCall } from "maloko";
import * as pulumi from "@pulumi/pulumi";

const OBJECTS = join(__dirname, "objects");

const keeper: any = {
    async create(props: any) {
        const made = `${props.name}-${randomUUID().slice(0, 8)}`;
        writeFileSync(join(OBJECTS, made), JSON.stringify({ ...props, key: currentCall().operationKey }));
        return { id: made, outs: props };
    },
    async diff(_id: string, olds: any, news: any) {
        const changed = (name: string) => olds[name] !== news[name];
        return { changes: ["name", "size", "zone"].some(changed), replaces: changed("zone") ? ["zone"] : [] };
    },
    async update(id: string, _olds: any, news: any) {
        writeFileSync(join(OBJECTS, id), JSON.stringify(news));
        return { outs: news };
    },
    async delete(id: string, _props: any) {
        rmSync(join(OBJECTS, id), { force: true });
    },
};
const finder: any = {
    ...keeper,
    async find(wanted: string, _props: any) {
        for (const id of readdirSync(OBJECTS)) {
            const { key, ...props } = JSON.parse(readFileSync(join(OBJECTS, id), "utf8"));
            if (key === wanted) {
                return { id, props };
            }
        }
    },
};

class Thing extends pulumi.dynamic.Resource {
    constructor(name: string, { size = 1, zone = "a", provider = keeper, after = [] as pulumi.Resource[] } = {}) {
        super(provider, name, { name, size, zone }, { dependsOn: after });
    }
}

if (existsSync(join(__dirname, "second"))) {
    const kept = new Thing("kept");
    const changed = new Thing("changed", { size: 2, after: [kept] });
    const replaced = new Thing("replaced", { zone: "b", after: [changed] });
    const findable = new Thing("findable", { provider: finder, after: [replaced] });
    new Thing("new", { after: [findable] });
} else {
    const kept = new Thing("kept");
    new Thing("changed");
    new Thing("replaced");
    new Thing("gone", { after: [kept] });
}
"""


@dataclass
class Build:
    """maloko in one language, and the store that it works with."""

    language: str
    store: Environment

    def command(self) -> list[str]:
        if self.language == "python":
            return [sys.executable, "-m", "maloko"]
        return ["node", str(NODE_MODULES / "maloko" / "bin" / "maloko.js")]

    def environment(self, place: Path) -> dict[str, str]:
        without = {name: value for name, value in os.environ.items() if not name.startswith(("PULUMI", "MALOKO"))}
        return {
            **without,
            **self.store(place),
            "PULUMI_CONFIG_PASSPHRASE": "points",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def write_program(self, place: Path) -> None:
        (place / "Pulumi.yaml").write_text(f"name: points\nruntime: {self.language}\n")
        (place / "objects").mkdir()
        if self.language == "python":
            (place / "__main__.py").write_text(PYTHON)
            return
        (place / "index.ts").write_text(TYPESCRIPT)
        (place / "package.json").write_text("{}")
        (place / "node_modules").symlink_to(NODE_MODULES)

    def run(self, place: Path, *arguments: str, point: str | None = None) -> subprocess.CompletedProcess[str]:
        kill = {} if point is None else {VARIABLE: killed_at(point)}
        return subprocess.run(
            [*self.command(), *arguments],
            cwd=place,
            env={**self.environment(place), **kill},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )

    def must(self, place: Path, *arguments: str) -> str:
        done = self.run(place, *arguments)
        said = done.stdout + done.stderr
        if done.returncode != 0:
            raise AssertionError(f"maloko {' '.join(arguments)}: exit {done.returncode}\n{said}")
        return said


def killed_at(point: str) -> str:
    """`after-intent:3` as the crate `fail` says it: killed when it is reached for the third time."""
    name, _, times = point.partition(":")
    return f"kill::{name}={int(times or 1) - 1}*off->1*return"


def ids(build: Build, place: Path) -> set[str]:
    """The ids of the resources in the state, but for the providers'."""
    exported = json.loads(build.run(place, "stack", "export", "--stack", "dev").stdout)
    resources = exported["deployment"].get("resources", [])
    return {
        resource["id"]
        for resource in resources
        if resource["type"].endswith(":Resource") or resource["type"].endswith(":Thing")
    }


def objects(place: Path) -> set[str]:
    return {file.name for file in (place / "objects").iterdir()}


def expect(true: bool, what: str) -> None:
    if not true:
        raise AssertionError(what)


def kill_at(build: Build, place: Path, point: str) -> str | None:
    """One round: its outcome, or `None` when the run ended before it came to the point."""
    (place / "second").touch()
    killed = build.run(place, "up", *ONCE, point=point)
    if killed.returncode == 0:
        return None
    died = killed.returncode == -signal.SIGKILL or "SIGKILL" in killed.stdout + killed.stderr
    expect(died, f"it ended with {killed.returncode}, and was not killed\n{killed.stdout}{killed.stderr}")
    made = objects(place)
    said = build.must(place, "up", *ONCE)
    known, there = ids(build, place), objects(place)
    expect(known <= there, f"lost: {sorted(known - there)}\n{said}")
    names = Counter(name.rsplit("-", 1)[0] for name in known)
    wanted = Counter(["kept", "changed", "replaced", "findable", "new"])
    expect(names == wanted, f"in the state: {dict(names)}\n{said}")
    extra = there - known
    for left in sorted(extra):
        name = left.rsplit("-", 1)[0]
        expect(name not in FINDABLE, f"{left} was made once more, although it can be found\n{said}")
        named = any(name in line and "interrupted while" in line for line in said.splitlines())
        expect(named, f"{left} is in no state, and was not named\n{said}")
    expect(len(extra) <= 1, f"more than one object was left over: {sorted(extra)}")
    again = changes_of(build.run(place, "up", *ONCE, "--json").stdout)
    expect(set(again) == {"same"}, f"one more up did {again}")
    build.must(place, "destroy", *ONCE)
    expect(objects(place) == extra, f"after the destroy there is {sorted(objects(place))}")
    return f"{len(made)} objects at the kill; {len(extra)} left over and named"


@dataclass
class Round:
    """What came of one kill."""

    point: str
    line: str

    @property
    def failed(self) -> bool:
        return self.line.startswith("FAILED")

    @property
    def left_over(self) -> bool:
        return " 1 left over" in self.line


def rounds(build: Build, folder: Path, point: str) -> Iterator[Round]:
    """Kills at the first, second, ... time that a run comes to a point, until one ends by itself; at `NAME:3`, once."""
    name, _, only = point.partition(":")
    for times in [int(only)] if only else range(1, 100):
        at = f"{name}:{times}"
        place = folder / at.replace(":", "-").lower()
        place.mkdir()
        try:
            build.write_program(place)
            build.must(place, "stack", "init", "dev")
            build.must(place, "up", *ONCE)
            line = kill_at(build, place, at)
            # A point that was never come to is no point.
            expect(
                line is not None or times > 1,
                f"no run comes to {at}: is this a build for tests (make build PROFILE=dev)?",
            )
        except AssertionError as error:
            line = f"FAILED: {error}"
        shutil.rmtree(place)
        if line is None:
            return
        found = Round(at, line)
        print(f"{build.language}, killed at {at}: {line}", flush=True)
        yield found
        if found.failed:
            return


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lang", required=True, choices=LANGUAGES)
    parser.add_argument("--store", choices=STORES, default="directory")
    parser.add_argument("--jobs", type=int, default=1, help="how many points are tried at a time")
    parser.add_argument("--point", help="this one only, such as after-intent:3")
    options = parser.parse_args()
    points = [name for name in POINTS if options.store == "directory" or name not in IN_FILES_ONLY]
    with (
        tempfile.TemporaryDirectory(prefix="maloko-points-") as name,
        store(options.store) as environment,
        ThreadPoolExecutor(options.jobs) as pool,
    ):
        build = Build(options.lang, environment)
        tried = pool.map(
            lambda point: list(rounds(build, Path(name), point)), [options.point] if options.point else points
        )
        found = [one for of_point in tried for one in of_point]
    failed = sum(one.failed for one in found)
    print(
        f"{options.lang}, {options.store}: {len(found)} kills at named points, "
        f"{sum(one.left_over for one in found)} objects left over and named, {failed} failed"
    )
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
