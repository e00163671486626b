#!/usr/bin/env python3
"""Compares the SDKs that maloko makes of real packages with those of the official generators.

    sdks.py FOLDER [NAME ...] --python MALOKO --node MALOKO

FOLDER has what real.py builds: the plugins of NAME, and `codegen`. NAME is random, tls, command or kubernetes. It needs
Go for nothing; the interpreter that runs it has the official `pulumi` SDK, and `--modules` a node_modules with that of
Node and with TypeScript. Names, arguments and types have to be the same; what is additional is told.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CHECKS = ROOT / "engine-packages" / "tests"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", default=[])
    parser.add_argument("--python", required=True, help="the command that makes SDKs for Python")
    parser.add_argument("--node", required=True, help="the command that makes SDKs for Node")
    parser.add_argument("--modules", type=Path, default=ROOT / "node-tests" / "node_modules")
    asked = parser.parse_args()
    asked.folder = asked.folder.resolve()
    plugins = [file.name.removeprefix("pulumi-resource-") for file in asked.folder.glob("pulumi-resource-*")]
    known = [name for name in ("random", "tls", "command", "kubernetes") if name in plugins]
    with tempfile.TemporaryDirectory(prefix="maloko-sdks-") as place:
        failed = [name for name in asked.names or known if not is_same(name, asked, Path(place))]
    if failed:
        raise SystemExit(f"not the same: {', '.join(failed)}")


def is_same(name, asked, place):
    """Makes the SDKs of a package for both languages, and compares."""
    path = f"{asked.folder}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "PULUMI_HOME": str(place / "home")}

    def run(*words, cwd=place):
        done = subprocess.run([str(word) for word in words], cwd=cwd, env=env, text=True, capture_output=True)
        print("".join(f"  {line}\n" for line in (done.stdout + done.stderr).splitlines()[-40:]), end="", flush=True)
        return done.returncode == 0

    print(f"{name}:", flush=True)
    schema = place / f"{name}.json"
    schema.write_text(
        subprocess.check_output([asked.python, "package", "get-schema", name], cwd=place, env=env, text=True)
    )
    official, ours = place / "official", place / "ours"
    for language, maloko in (("python", asked.python), ("nodejs", asked.node)):
        run(asked.folder / "codegen", language, schema, official / language / name)
        run(maloko, "package", "gen-sdk", schema, "--language", language, "--out", ours / name)
    package = f"pulumi_{name.replace('-', '_')}"
    installed = official / "python" / name
    # Its code asks which version of it is installed.
    about = installed / f"{package}-1.0.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0.0\n")
    same = run(sys.executable, CHECKS / "compare_python.py", package, installed, ours / name / "python")
    if not (place / "node_modules").exists():
        (place / "node_modules").symlink_to(asked.modules)
    compiled = official / "nodejs" / name
    # What others write by hand is not there to be compiled.
    run(
        "node", asked.modules / "typescript" / "bin" / "tsc", "--skipLibCheck", "--noEmitOnError", "false", cwd=compiled
    )
    manifest = (compiled / "package.json").read_text()
    # Some packages are given their version when they are published.
    (compiled / "bin" / "package.json").write_text(
        manifest.replace("${VERSION}", json.loads(schema.read_text())["version"])
    )
    behaves = run("node", CHECKS / "behaviour_nodejs.mjs", compiled / "bin", ours / name / "nodejs")
    names = run("node", CHECKS / "compare_nodejs.mjs", compiled / "bin", ours / name / "nodejs", "--exact")
    return same and names and behaves


if __name__ == "__main__":
    main()
