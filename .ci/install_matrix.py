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
YARN_FILES = {".yarnrc.yml": YARN_SETTINGS, "yarn.lock": ""}
NPM_QUIETLY = ["--ignore-scripts", "--no-audit", "--no-fund"]
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
    def beside(self) -> dict[str, str]:
        """What the project has beside the SDK."""
        tools = {"vitest": "^4"} if self.tool == "fast-check" else {}
        return {**tools, self.tool: f"^{self.version}"} if self.version else tools

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


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def project(folder: Path, row: Row, manager: str, command: list[str], package: Path) -> str:
    """Installs the package in a new project; says how that went."""

    def done(*arguments: str) -> str | None:
        """What a package manager says; nothing where it fails."""
        told = run([*command, *arguments, *(NPM_QUIETLY if manager == "npm" else [])], folder)
        return told.stdout if told.returncode == 0 else None

    def describe(sdk: str) -> None:
        needs = {SDK: sdk, **row.beside}
        description = {"name": "tried", "version": "1.0.0", "private": True, "dependencies": needs}
        (folder / "package.json").write_text(json.dumps(description))

    folder.mkdir(parents=True)
    for name, text in {**FILES[row.tool], **(YARN_FILES if manager == "yarn" else {})}.items():
        (folder / name).write_text(text)
    describe(row.locked or row.asks)
    before = done("install")
    if before is not None and row.locked not in ("", row.asks):
        # The project asks for a range, while its lock file goes on to have what is installed. pnpm takes the lock file
        # as it is where CI is set. Yarn looks for the newest, and has to be told otherwise.
        describe(row.asks)
        before = done("install", *(["--no-frozen-lockfile"] if manager == "pnpm" else []))
        if manager == "yarn" and before is not None:
            before = done("set", "resolution", f"{SDK}@npm:{row.asks}", f"npm:{row.locked}")
    if before is None:
        return "not without it either"
    added = done("install" if manager == "npm" else "add", f"{'maloko@file:' if manager == 'yarn' else ''}{package}")
    return "no" if added is None else "with a warning" if WARNED.search(added) else "yes"


def tried(folder: Path, row: Row) -> str:
    """Tries the kit or a program in the project; says whether it works there."""
    if row.tool in ("typescript", SDK):
        run(["node_modules/.bin/maloko", "stack", "init", "dev"], folder)
    told = run(TRY[row.tool], folder)
    if told.returncode == 0:
        return "yes"
    if re.search(r"works with|is too old|is older than maloko supports", told.stdout):
        return "it is refused, with what to install"
    print(told.stdout, file=sys.stderr)
    return "no"


def table(package: Path, yarn: Path, folder: Path) -> str:
    managers = {"npm": ["npm"], "pnpm": ["npx", "--yes", PNPM], "yarn": ["node", str(yarn)]}
    shutil.rmtree(folder, ignore_errors=True)

    def line(row: Row) -> str:
        place = folder / f"{ROWS.index(row)}"
        cells = [project(place / manager, row, manager, managers[manager], package) for manager in managers]
        if cells[0] not in ("yes", "with a warning"):
            run(["npm", "install", "--legacy-peer-deps", str(package), *NPM_QUIETLY], place / "npm")
        cells.append(tried(place / "npm", row))
        shutil.rmtree(place)
        line = f"| {row.title} | {' | '.join(cells)} |"
        print(line, file=sys.stderr, flush=True)
        return line

    # Most of the time goes by in waiting for the registry.
    with ThreadPoolExecutor(4) as pool:
        heading = [f"| beside | {' | '.join(managers)} | works there |", "| --- | --- | --- | --- | --- |"]
        return "\n".join([*heading, *pool.map(line, ROWS)])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("package", type=Path)
    parser.add_argument("yarn", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    made = table(asked.package.resolve(), asked.yarn.resolve(), asked.folder.resolve())
    page = PAGE.read_text()
    new, count = re.subn(r"^\| beside .*?(?=\n\n)", lambda _: made, page, count=1, flags=re.DOTALL | re.MULTILINE)
    if count == 0:
        sys.exit(f"{PAGE} has no table that begins with '| beside'")
    if asked.check and new != page:
        sys.exit(f"{PAGE} says otherwise: make install-matrix")
    if not asked.check:
        PAGE.write_text(new)


if __name__ == "__main__":
    main()
