"""Installs the npm package beside the tools of other projects, with each package manager, and tries it there:

    install_matrix.py PACKAGE.tgz YARN.js FOLDER [--check]

Writes the table of docs/reference/installing-beside.md. With --check it changes nothing, and fails where it would be
another.
It needs a registry of npm, and takes a quarter of an hour.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "installing-beside.md"
SDK = "@pulumi/pulumi"
PNPM = "pnpm@10"
ENVIRONMENT = {
    **os.environ,
    "CI": "1",
    "NO_COLOR": "1",
    "PULUMI_CONFIG_PASSPHRASE": "none",
    "npm_config_update_notifier": "false",
}
# Settings of yarn for a project that is thrown away.
YARN_SETTINGS = (
    "nodeLinker: node-modules\nenableTelemetry: false\nenableScripts: false\nenableImmutableInstalls: false\n"
)
WARNED = re.compile(r"unmet peer|YN0060|YN0002|npm warn ERESOLVE", re.IGNORECASE)

PROGRAM = """
import * as pulumi from "@pulumi/pulumi";
const provider: pulumi.dynamic.ResourceProvider = { create: async (inputs) => ({ id: "made", outs: inputs }) };
class Thing extends pulumi.dynamic.Resource {}
new Thing(provider, "thing", { size: 1 });
"""
KIT = """
test("a thing is planned and made", async ({ stack }) => {
    const provider = { create: async (inputs) => ({ id: "made", outs: inputs }), delete: async () => {} };
    class Thing extends pulumi.dynamic.Resource {}
    const s = stack(() => void new Thing(provider, "thing", { size: 1 }));
    expect(await s.preview()).toPlan({ thing: "create" });
    await s.up();
});
"""
LAWS = """
class Provider {
    create = async (inputs) => ({ id: inputs.name, outs: inputs });
    update = async (id, olds, news) => ({ outs: news });
    delete = async () => {};
}
laws(Provider, { inputs: fc.record({ name: fc.constantFrom("a", "b", "c"), size: fc.nat() }), runs: 3, waive: {
    L6: "not what is tried here", L10: "not what is tried here", L17: "not what is tried here" } });
"""
JEST = 'const pulumi = require("@pulumi/pulumi");\n'
VITEST = 'import * as pulumi from "@pulumi/pulumi";\n'
FILES = {
    "jest": {"kit.test.js": 'const { expect, test } = require("maloko/jest");\n' + JEST + KIT},
    "vitest": {"kit.test.mjs": 'import { expect, test } from "maloko/vitest";\n' + VITEST + KIT},
    "fast-check": {"laws.test.mjs": 'import fc from "fast-check";\nimport { laws } from "maloko/vitest";\n' + LAWS},
    "typescript": {"Pulumi.yaml": "name: tried\nruntime: nodejs\n", "index.ts": PROGRAM},
}
# Other installations go on meanwhile.
PATIENTLY = ["--testTimeout", "300000"]
TRY = {
    "jest": ["node_modules/.bin/jest", *PATIENTLY],
    "vitest": ["node_modules/.bin/vitest", "run", *PATIENTLY],
    "fast-check": ["node_modules/.bin/vitest", "run", *PATIENTLY],
    "typescript": ["node_modules/.bin/maloko", "up", "--yes", "--stack", "dev"],
}
# As the documents write them.
NAMES = {"typescript": "TypeScript"}
TRY[SDK], FILES[SDK] = TRY["typescript"], FILES["typescript"]


class Row(NamedTuple):
    """A project: the tool beside which the package is installed."""

    tool: str
    version: str
    # The SDK that the project asks for, and the one that its lock file has.
    asks: str = "^3.200.0"
    locked: str = ""

    @property
    def title(self) -> str:
        if self.tool != SDK:
            return f"{NAMES.get(self.tool, self.tool)} {self.version}"
        return f"`{SDK}` {self.locked}, " + (
            "pinned" if self.asks == self.locked else f"locked, `{self.asks}` asked for"
        )


ROWS = [
    *(Row("jest", version) for version in ("27", "28", "29", "30")),
    *(Row("vitest", version) for version in ("1", "2", "3", "4")),
    *(Row("fast-check", version) for version in ("2", "3", "4")),
    *(Row("typescript", version) for version in ("5", "6", "7")),
    Row(SDK, "", "^3.0.0", "3.100.0"),
    Row(SDK, "", "3.100.0", "3.100.0"),
]


class Manager:
    """A package manager."""

    def __init__(self, name: str, command: list[str], quiet: list[str]) -> None:
        self.name, self.command, self.quiet = name, command, quiet

    def run(self, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        return run([*self.command, *arguments, *self.quiet], folder)

    def add(self, folder: Path, what: str) -> subprocess.CompletedProcess[str]:
        return self.run(folder, "install" if self.name == "npm" else "add", what)


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def project(folder: Path, row: Row, manager: Manager, package: Path) -> str:
    """Installs the package in a new project; says how that went."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    needs = {SDK: row.locked or row.asks}
    if row.tool == "fast-check":
        needs["vitest"] = "^4"
    if row.version:
        needs[row.tool] = f"^{row.version}"
    description = {"name": "tried", "version": "1.0.0", "private": True, "dependencies": needs}
    (folder / "package.json").write_text(json.dumps(description))
    if manager.name == "yarn":
        (folder / ".yarnrc.yml").write_text(YARN_SETTINGS)
        (folder / "yarn.lock").write_text("")
    for name, text in FILES[row.tool].items():
        (folder / name).write_text(text)
    before = manager.run(folder, "install")
    if before.returncode == 0 and row.locked not in ("", row.asks):
        before = lock(folder, row, manager, description)
    if before.returncode != 0:
        return "not without it either"
    after = manager.add(folder, f"{'maloko@file:' if manager.name == 'yarn' else ''}{package}")
    if after.returncode != 0:
        return "no"
    return "with a warning" if WARNED.search(after.stdout) else "yes"


def lock(folder: Path, row: Row, manager: Manager, description: dict[str, object]) -> subprocess.CompletedProcess[str]:
    """Has the project ask for a range, while its lock file goes on to have what is installed."""
    (folder / "package.json").write_text(json.dumps({**description, "dependencies": {SDK: row.asks}}))
    # pnpm takes the lock file as it is where CI is set. Yarn looks for the newest, and has to be told otherwise.
    done = manager.run(folder, "install", *(["--no-frozen-lockfile"] if manager.name == "pnpm" else []))
    if manager.name != "yarn" or done.returncode != 0:
        return done
    return manager.run(folder, "set", "resolution", f"{SDK}@npm:{row.asks}", f"npm:{row.locked}")


def tried(folder: Path, row: Row) -> str:
    """Tries the kit or a program in the project; says whether it works there."""
    if row.tool in ("typescript", SDK):
        run(["node_modules/.bin/maloko", "stack", "init", "dev"], folder)
    told = run(TRY[row.tool], folder)
    if told.returncode == 0:
        return "yes"
    refused = re.search(r"works with|is too old|is older than maloko supports", told.stdout)
    if refused is None:
        print(told.stdout, file=sys.stderr)
    return "it is refused, with what to install" if refused else "no"


def lines(package: Path, yarn: Path, folder: Path) -> Iterator[str]:
    npm = Manager("npm", ["npm"], ["--ignore-scripts", "--no-audit", "--no-fund"])
    pnpm = Manager("pnpm", ["npx", "--yes", PNPM], [])
    berry = Manager("yarn", ["node", str(yarn)], [])
    yield "| beside | npm | pnpm | yarn | works there |"
    yield "| --- | --- | --- | --- | --- |"

    def line(row: Row) -> str:
        place = folder / f"{ROWS.index(row)}"
        cells = [project(place / manager.name, row, manager, package) for manager in (npm, pnpm, berry)]
        if cells[0] not in ("yes", "with a warning"):
            npm.run(place / "npm", "install", "--legacy-peer-deps", str(package))
        cells.append(tried(place / "npm", row))
        shutil.rmtree(place)
        line = f"| {row.title} | {' | '.join(cells)} |"
        print(line, file=sys.stderr, flush=True)
        return line

    # Most of the time goes by in waiting for the registry.
    with ThreadPoolExecutor(4) as pool:
        yield from pool.map(line, ROWS)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("package", type=Path)
    parser.add_argument("yarn", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    table = "\n".join(lines(asked.package.resolve(), asked.yarn.resolve(), asked.folder.resolve()))
    page = PAGE.read_text()
    new, count = re.subn(r"^\| beside .*?(?=\n\n)", lambda _: table, page, count=1, flags=re.DOTALL | re.MULTILINE)
    if count == 0:
        sys.exit(f"{PAGE} has no table that begins with '| beside'")
    if asked.check and new != page:
        sys.exit(f"{PAGE} says otherwise: make install-matrix")
    if not asked.check:
        PAGE.write_text(new)


if __name__ == "__main__":
    main()
