#!/usr/bin/env python3
"""Plants each bug of this folder in a copy of a fleet package, and demands that the test notices which its patch names.

    plant.py --check             only looks whether every bug can be planted, and whether both languages have it
    plant.py python [BUG...]     plants those of a language, or these of them
    plant.py node [BUG...]

Before anything is planted, all those tests have to pass in such a copy. The copy has the sources of the tree, and the
native module of the package that is installed.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

BUGS = Path(__file__).resolve().parent
ROOT = BUGS.parents[2]
MAX_SECONDS = 600
_SHOWN = 160
"""Characters that are shown of what a test says."""
FOUND_BY = re.compile(r"^Found by: (?P<file>\S+) (?P<title>.+)$", re.M)

# Compiles a folder of TypeScript, file by file: types were checked elsewhere.
COMPILE = """
const [modules, sources, made] = process.argv.slice(1);
const fs = require("node:fs"), path = require("node:path"), ts = require(path.join(modules, "typescript"));
const { compilerOptions } = ts.readConfigFile(path.join(sources, "..", "..", "tsconfig.json"), ts.sys.readFile).config;
const { options } = ts.convertCompilerOptionsFromJson({ ...compilerOptions, rootDir: "." }, sources);
for (const name of fs.readdirSync(sources, { recursive: true }).filter((it) => it.endsWith(".ts"))) {
    const text = fs.readFileSync(path.join(sources, name), "utf8");
    const of = { fileName: path.join(sources, name), compilerOptions: options, reportDiagnostics: true };
    const { outputText, diagnostics } = ts.transpileModule(text, of);
    const [fault] = diagnostics.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, " "));
    if (fault) throw new Error(`${name}: ${fault}`);
    fs.writeFileSync(path.join(made, name.replace(/ts$/, "js")), outputText);
}
"""


class Bug(NamedTuple):
    """A patch, and the test that has to notice it: its file, and words of its title."""

    patch: Path
    file: str
    title: str

    @property
    def name(self) -> str:
        return self.patch.stem


class Report(NamedTuple):
    """The titles of the tests that ran, the messages of those that failed, and the whole output."""

    done: list[str]
    failed: dict[str, str]
    text: str


def bugs_of(language: str) -> list[Bug]:
    bugs = []
    for patch in sorted((BUGS / language).glob("*.patch")):
        named = FOUND_BY.search(patch.read_text())
        if named is None:
            sys.exit(f"{patch}: no line says `Found by: FILE TITLE`")
        bugs.append(Bug(patch, named["file"], named["title"]))
    return bugs


class PythonPackage:
    """The Python package, which is found before the one that is installed: by a test and all that it starts."""

    language = "python"

    def copy(self, place: Path) -> None:
        source = ROOT / "py-binding" / "python" / "maloko"
        unwanted = shutil.ignore_patterns("__pycache__", "*.so", "*.pyd")
        shutil.copytree(source, place / "py-binding" / "python" / "maloko", ignore=unwanted)
        native = next((ROOT / ".venv").glob("lib*/python*/site-packages/maloko/_maloko*.so"))
        (place / "py-binding" / "python" / "maloko" / native.name).symlink_to(native)

    def make(self, place: Path) -> None:
        """Nothing has to be made of the sources."""

    def command(self, place: Path, bugs: Iterable[Bug], report: Path) -> tuple[list[str], Path]:
        """The call of the tests that notice these bugs, and the folder for it."""
        os.environ["PYTHONPATH"] = str(place / "py-binding" / "python")
        words = [str(ROOT / ".venv" / "bin" / "python"), "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        words += [*sorted({f"python-tests/{bug.file}" for bug in bugs}), f"--junitxml={report}"]
        return [*words, "-k", " or ".join(sorted({bug.title for bug in bugs}))], ROOT


class NodePackage:
    """The npm package, below a copy of the tests: these find it in their own `node_modules`."""

    language = "node"

    def copy(self, place: Path) -> None:
        shutil.copytree(ROOT / "node-binding" / "ts" / "fleet", place / "node-binding" / "ts" / "fleet")
        shutil.copy(ROOT / "node-binding" / "tsconfig.json", place / "node-binding")
        for name in (".venv", "conformance", "python-tests"):
            (place / name).symlink_to(ROOT / name)
        tests = ROOT / "node-tests"
        for name in ("fleets", "support"):
            shutil.copytree(tests / name, place / "node-tests" / name, symlinks=True)
        for name in ("package.json", "tsconfig.json", "vitest.config.ts"):
            shutil.copy(tests / name, place / "node-tests")
        modules, installed = place / "node-tests" / "node_modules", tests / "node_modules"
        (modules / ".bin").mkdir(parents=True)
        (modules / ".bin" / "maloko").symlink_to("../maloko/bin/maloko.js")
        for module in installed.iterdir():
            if module.name != "maloko" and not module.name.startswith("."):
                (modules / module.name).symlink_to(module)
        (modules / "maloko").mkdir()
        for part in (installed / "maloko").iterdir():
            if part.name in ("dist", "bin"):
                shutil.copytree(part, modules / "maloko" / part.name)
            elif part.suffix == ".json":
                shutil.copy(part, modules / "maloko")
            else:
                (modules / "maloko" / part.name).symlink_to(part)

    def make(self, place: Path) -> None:
        """Compiles the sources into the package."""
        modules = place / "node-tests" / "node_modules"
        folders = [ROOT / "node-tests" / "node_modules", place / "node-binding/ts/fleet", modules / "maloko/dist/fleet"]
        subprocess.run(["node", "-e", COMPILE, "--", *map(str, folders)], check=True)

    def command(self, place: Path, bugs: Iterable[Bug], report: Path) -> tuple[list[str], Path]:
        """The call of the tests that notice these bugs, and the folder for it."""
        words = ["node", "node_modules/vitest/vitest.mjs", "run", "--reporter=junit", f"--outputFile={report}"]
        words += sorted({bug.file for bug in bugs})
        return [*words, "-t", "|".join(sorted({re.escape(bug.title) for bug in bugs}))], place / "node-tests"


PACKAGES: dict[str, PythonPackage | NodePackage] = {"python": PythonPackage(), "node": NodePackage()}


def tested(package: PythonPackage | NodePackage, place: Path, bugs: list[Bug], patch: Path | None) -> Report:
    """What the tests that notice these bugs say of a copy of the package, with a bug planted in it or without."""
    package.copy(place)
    if patch is not None:
        # Outside of the repository, where it may lie: what is patched is no part of it.
        outside = {**os.environ, "GIT_CEILING_DIRECTORIES": str(place.parent)}
        subprocess.run(["git", "apply", "-C1", str(patch)], cwd=place, env=outside, check=True)
    package.make(place)
    report = place / "report.xml"
    command, folder = package.command(place, bugs, report)
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    ) as run:
        try:
            text, _ = run.communicate(timeout=MAX_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
            return Report([], {}, f"it hangs: no end after {MAX_SECONDS} s")
    if not report.exists():
        return Report([], {}, text)
    cases = {it.get("name", ""): it for it in ElementTree.parse(report).iter("testcase") if it.find("skipped") is None}
    # Errors are no failures: a module that cannot be loaded has noticed nothing.
    failed = {name: it.get("message", "") for name, case in cases.items() for it in case.findall("failure")}
    return Report(list(cases), failed, text)


def of_bug(bug: Bug, titles: Iterable[str]) -> list[str]:
    """The tests, of these, that are to notice a bug."""
    return [title for title in titles if plain(bug.title) in plain(title)]


def plain(title: str) -> str:
    """A title as both languages write it."""
    return " ".join(re.findall(r"[a-z0-9]+", title.lower()))


def plant(language: str, names: list[str]) -> int:
    """Plants the bugs of a language one after the other; gives whether one was not noticed."""
    package = PACKAGES[language]
    bugs = [bug for bug in bugs_of(language) if not names or bug.name in names]
    if len(bugs) < len(names):
        sys.exit(f"{BUGS / language} has no such bugs: {', '.join(set(names) - {bug.name for bug in bugs})}")
    unnoticed = 0
    with tempfile.TemporaryDirectory(prefix="maloko-fleet-bugs-") as folder:
        whole = tested(package, Path(folder, "whole"), bugs, None)
        missing = [f"there is no test '{bug.title}' in {bug.file}" for bug in bugs if not of_bug(bug, whole.done)]
        if whole.failed or missing:
            faults = missing or [f"{title}: fails before a bug is planted" for title in whole.failed]
            print("\n".join([whole.text, *faults]), file=sys.stderr)
            return 1
        for bug in bugs:
            place = Path(folder, bug.name)
            report = tested(package, place, [bug], bug.patch)
            noticed = of_bug(bug, report.failed)
            if noticed:
                why = " ".join(report.failed[noticed[0]].split())[:_SHOWN]
                print(f"{language}: {bug.name}: noticed by {bug.file} {bug.title}: {why}", flush=True)
            else:
                unnoticed += 1
                print(f"{report.text}\n{language}: {bug.name}: NOT NOTICED by {bug.file}", flush=True)
            shutil.rmtree(place)
    print(f"{len(bugs) - unnoticed} passed, {unnoticed} failed")
    return int(unnoticed > 0)


def check() -> int:
    """Says which bugs cannot be planted, and which one language has alone."""
    faults = []
    for language in PACKAGES:
        for bug in bugs_of(language):
            if subprocess.run(["git", "apply", "--check", "-C1", str(bug.patch)], cwd=ROOT).returncode != 0:
                faults.append(f"{bug.patch.relative_to(ROOT)} cannot be planted: mend the patch")
    one, other = ({bug.name for bug in bugs_of(language)} for language in PACKAGES)
    faults += [f"{name}: the other language needs this bug, too" for name in sorted(one ^ other)]
    print("\n".join(faults) or f"{len(one) + len(other)} bugs of fleets can be planted")
    return int(bool(faults))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("language", nargs="?", choices=list(PACKAGES))
    parser.add_argument("bugs", nargs="*", metavar="BUG")
    parser.add_argument("--check", action="store_true", help="only look whether every bug can be planted")
    asked = parser.parse_args()
    if asked.check:
        return check()
    if asked.language is None:
        parser.error("name a language, or --check")
    # By day some of those that notice a bug do not run.
    os.environ["MALOKO_LONG"] = "1"
    return plant(asked.language, asked.bugs)


if __name__ == "__main__":
    sys.exit(main())
