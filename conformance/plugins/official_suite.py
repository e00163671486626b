#!/usr/bin/env python3
"""An official suite of the Automation API, unmodified, with the real `pulumi` and with maloko under its name.

    official_suite.py FOLDER python|nodejs --cli maloko [--only TEXT]

FOLDER is what real.py made. The suites are no packages of their own, but they lie in Go's cache: the module of the SDKs
holds them. Every test that passes with `pulumi` here has to pass with maloko, too. What asks the internet (templates,
plugins, the cloud) fails with both, or is left out. Python's runs with the SDK of this interpreter, Node's with that of
`--node-modules`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

from real import PULUMI

# Templates and schemas come from the internet. Forks of a process with a gRPC server are the official SDK's matter.
PYTHON_WITHOUT = "not test_new and not plugin_functions and not test_fork and not remote"
NODE_WITHOUT = "remote|installs"
# What the suite of Node is run with, as its package says.
NODE_TOOLS = ("mocha@12.0.3", "tsx@4.19.3")
PASSED = "passed"
GO_PROGRAM = """package main

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		own := config.New(ctx, "")
		ctx.Export("exp_static", pulumi.String("foo"))
		ctx.Export("exp_cfg", pulumi.String(own.Get("bar")))
		ctx.Export("exp_secret", own.GetSecret("buzz"))
		return nil
	})
}
"""


def module() -> Path:
    """Go's module of the SDKs."""
    cache = subprocess.run(["go", "env", "GOMODCACHE"], check=True, capture_output=True, text=True).stdout.strip()
    found = Path(cache, "github.com/pulumi/pulumi/sdk", f"v3@{PULUMI}")
    if not found.is_dir():
        raise SystemExit(f"there is no {found}: `make real-plugins` downloads the module")
    return found


def copy(source: Path, target: Path, real: Path) -> None:
    """A copy of a suite. What Go leaves out of it, because it is a module itself, is written anew."""
    shutil.copytree(source, target)
    subprocess.run(["chmod", "-R", "u+w", target], check=True)
    program = next(target.rglob("data")) / "testproj"
    program.mkdir(exist_ok=True)
    (program / "Pulumi.yaml").write_text("name: testproj\nruntime: go\ndescription: A minimal Go program\n")
    (program / "main.go").write_text(GO_PROGRAM)
    for name in ("go.mod", "go.sum"):
        shutil.copy(real / "src" / "go-program" / name, program)


class PythonSuite:
    """Python's, which is run by pytest."""

    def __init__(self, folder: Path, real: Path) -> None:
        self.folder = folder
        # Without the SDK beside the tests: it is the installed one that is tested.
        copy(module() / "python" / "lib" / "test", folder / "test", real)

    def results(self, environment: dict[str, str], report: Path, only: str | None) -> dict[str, str]:
        chosen = PYTHON_WITHOUT if only is None else f"({PYTHON_WITHOUT}) and ({only})"
        words = [sys.executable, "-m", "pytest", "test/automation", "-q", "-n", "2", "-p", "no:cacheprovider"]
        words += [f"--junitxml={report}", "-k", chosen]
        environment = environment | {"PYTHONPATH": str(self.folder)}
        subprocess.run(words, cwd=self.folder, env=environment, check=False, stdout=sys.stderr)
        found = {}
        for case in ET.parse(report).iter("testcase"):
            name = f"{case.get('classname', '').rpartition('.')[2]} {case.get('name')}"
            ends = [case.find(kind) for kind in ("failure", "error", "skipped")]
            ended = next((end for end in ends if end is not None), None)
            said = "" if ended is None else first_line(ended.get("message") or ended.tag)
            found[name] = PASSED if ended is None else f"{ended.tag}: {said}"
        return found


class NodeSuite:
    """Node's, which is run by mocha, beside the SDK as it is installed."""

    def __init__(self, folder: Path, real: Path, node_modules: Path) -> None:
        self.folder = folder / "sdk"
        shutil.copytree(node_modules / "@pulumi" / "pulumi", self.folder)
        copy(module() / "nodejs" / "tests" / "automation", self.folder / "tests" / "automation", real)
        # What the SDK depends on stands above it, and the tools beside it.
        (folder / "node_modules").symlink_to(node_modules)
        install = ["npm", "install", "--no-save", "--no-audit", "--no-fund", "--silent", "--prefix", folder / "tools"]
        subprocess.run([*install, *NODE_TOOLS], check=True, stdout=sys.stderr)
        self.tools = folder / "tools" / "node_modules"

    def results(self, environment: dict[str, str], report: Path, only: str | None) -> dict[str, str]:
        words = ["node", "--import", str(self.tools / "tsx" / "dist" / "loader.mjs")]
        words += [str(self.tools / "mocha" / "bin" / "mocha.js"), "tests/automation/*.spec.ts", "--timeout", "300000"]
        words += ["--exit", "--reporter", "json", "--reporter-option", f"output={report}"]
        words += ["--fgrep", only] if only else ["--grep", NODE_WITHOUT, "--invert"]
        subprocess.run(words, cwd=self.folder, env=environment, check=False, stdout=sys.stderr)
        told = json.loads(report.read_text())
        found = {test["fullTitle"]: PASSED for test in told["passes"]}
        found |= {test["fullTitle"]: "skipped" for test in told["pending"]}
        for test in told["failures"]:
            found[test["fullTitle"]] = first_line(test["err"].get("message", "failed"))
        return found


def first_line(text: str) -> str:
    return (text.splitlines() or [""])[0][:160]


def results(suite: PythonSuite | NodeSuite, tool: Path, only: str | None) -> dict[str, str]:
    """The result of each test with the `pulumi` of this folder, by its name: `passed`, or why it did not pass."""
    # Another home: plugins, credentials and selected stacks are nobody's.
    environment = {**os.environ, "PATH": f"{tool}:{os.environ['PATH']}", "PULUMI_HOME": f"{tool}-home"}
    environment |= {"PULUMI_SKIP_UPDATE_CHECK": "true", "GOFLAGS": "-mod=mod"}
    return suite.results(environment, tool.with_suffix(".report"), only)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("language", choices=["python", "nodejs"])
    parser.add_argument("--cli", required=True)
    parser.add_argument("--node-modules", type=Path, default=Path("node-tests/node_modules"))
    parser.add_argument("--only", help="tests whose names hold this; for Python as pytest's -k takes it")
    given = parser.parse_args()
    real = given.folder.resolve()
    with tempfile.TemporaryDirectory(prefix="official-suite-") as name:
        folder = Path(name)
        if given.language == "python":
            suite: PythonSuite | NodeSuite = PythonSuite(folder, real)
        else:
            suite = NodeSuite(folder, real, given.node_modules.resolve())
        shim = folder / "maloko"
        # A package of npm has to be on PATH, where the shim finds it again.
        found = {**os.environ, "PATH": f"{Path(given.cli).absolute().parent}:{os.environ['PATH']}"}
        subprocess.run([given.cli, "shim", "install", str(shim)], check=True, capture_output=True, env=found)
        tool = folder / "pulumi"
        tool.mkdir()
        for program in real.glob("pulumi*"):
            (tool / program.name).symlink_to(program)
        of_pulumi, of_maloko = (results(suite, tool, given.only) for tool in (tool, shim))
    for who, found in (("pulumi", of_pulumi), ("maloko", of_maloko)):
        passed = sum(result == PASSED for result in found.values())
        print(f"{who}: {passed} of {len(found)} passed")
    worse = [name for name, result in of_pulumi.items() if result == PASSED and of_maloko.get(name) != PASSED]
    for name in worse:
        print(f"passes with pulumi alone: {name}\n    {of_maloko.get(name)}")
    for name in sorted(of_maloko):
        if of_maloko[name] == PASSED and of_pulumi.get(name) != PASSED:
            print(f"passes with maloko alone: {name}\n    {of_pulumi.get(name)}")
    sys.exit(bool(worse))


if __name__ == "__main__":
    main()
