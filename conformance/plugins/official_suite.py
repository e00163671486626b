#!/usr/bin/env python3
"""The official suite of Python's Automation API, unmodified, with the real `pulumi` and with maloko under its name.

    official_suite.py FOLDER --cli maloko [--only TEXT]

FOLDER is what real.py made. The suite is no package of its own, but it lies in Go's cache: the module of the SDKs holds
it. Every test that passes with `pulumi` here has to pass with maloko, too. What asks the internet (templates, plugins,
the cloud) fails with both, or is left out.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

from real import PULUMI

SUITE = "test/automation"
# Templates and schemas come from the internet. Forks of a process with a gRPC server are the official SDK's matter.
LEFT_OUT = "not test_new and not plugin_functions and not test_fork and not remote"
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


def prepare(folder: Path, real: Path) -> Path:
    """A copy of the suite. What Go leaves out of it, because it is a module itself, is written anew."""
    cache = subprocess.run(["go", "env", "GOMODCACHE"], check=True, capture_output=True, text=True).stdout.strip()
    source = Path(cache, "github.com/pulumi/pulumi/sdk", f"v3@{PULUMI}", "python", "lib")
    if not (source / SUITE).is_dir():
        raise SystemExit(f"there is no {source / SUITE}: `make real-plugins` downloads the module")
    # Without the SDK beside the tests: it is the installed one that is tested.
    shutil.copytree(source / "test", folder / "test")
    subprocess.run(["chmod", "-R", "u+w", folder / "test"], check=True)
    program = folder / SUITE / "data" / "testproj"
    program.mkdir(exist_ok=True)
    (program / "Pulumi.yaml").write_text("name: testproj\nruntime: go\ndescription: A minimal Go program\n")
    (program / "main.go").write_text(GO_PROGRAM)
    for name in ("go.mod", "go.sum"):
        shutil.copy(real / "src" / "go-program" / name, program)
    return folder


def results(suite: Path, tool: Path, only: str | None) -> dict[str, str]:
    """The result of each test with the `pulumi` of this folder, by its name: `passed`, or why it did not pass."""
    report = suite / f"{tool.name}.xml"
    chosen = LEFT_OUT if only is None else f"({LEFT_OUT}) and ({only})"
    # Another home: plugins, credentials and selected stacks are nobody's.
    environment = {
        **os.environ,
        "PATH": f"{tool}:{os.environ['PATH']}",
        "PULUMI_HOME": str(suite / f"{tool.name}-home"),
    }
    environment |= {"PULUMI_SKIP_UPDATE_CHECK": "true", "GOFLAGS": "-mod=mod", "PYTHONPATH": str(suite)}
    words = [sys.executable, "-m", "pytest", SUITE, "-q", "-n", "2", "-p", "no:cacheprovider", f"--junitxml={report}"]
    subprocess.run([*words, "-k", chosen], cwd=suite, env=environment, check=False, stdout=sys.stderr)
    found = {}
    for case in ET.parse(report).iter("testcase"):
        name = f"{case.get('classname', '').rpartition('.')[2]} {case.get('name')}"
        ended = next((case.find(kind) for kind in ("failure", "error", "skipped") if case.find(kind) is not None), None)
        said = "" if ended is None else (ended.get("message") or ended.tag).splitlines()[0][:160]
        found[name] = "passed" if ended is None else f"{ended.tag}: {said}"
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cli", required=True)
    parser.add_argument("--only", help="tests whose names hold this, as pytest's -k takes it")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="official-suite-") as name:
        suite = prepare(Path(name), given.folder.resolve())
        shim = suite / "maloko"
        subprocess.run([given.cli, "shim", "install", str(shim)], check=True, capture_output=True)
        real = suite / "pulumi"
        real.mkdir()
        for program in given.folder.resolve().glob("pulumi*"):
            (real / program.name).symlink_to(program)
        of_pulumi, of_maloko = (results(suite, tool, given.only) for tool in (real, shim))
    for who, found in (("pulumi", of_pulumi), ("maloko", of_maloko)):
        passed = sum(result == "passed" for result in found.values())
        print(f"{who}: {passed} of {len(found)} passed")
    worse = [name for name, result in of_pulumi.items() if result == "passed" and of_maloko.get(name) != "passed"]
    for name in worse:
        print(f"passes with pulumi alone: {name}\n    {of_maloko.get(name)}")
    for name in sorted(of_maloko):
        if of_maloko[name] == "passed" and of_pulumi.get(name) != "passed":
            print(f"passes with maloko alone: {name}\n    {of_pulumi.get(name)}")
    sys.exit(bool(worse))


if __name__ == "__main__":
    main()
