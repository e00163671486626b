#!/usr/bin/env python3
"""Looks at what a commit would change, in under a minute: formatting, lints and types of the languages that it touches,
the unit tests of the crates, the tests that it changes, and a first look at each language's package.

    quick.py [BASE]     BASE: what to compare with; HEAD unless it is given

`make hook` makes git run it before each commit. What must pass to land is `make verify` and `make test`.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NODE_TESTS = "node-tests"
FIRST_LOOK = {"python": ["python-tests/providers/test_results.py"], "node": ["providers/results.test.ts"]}


def output(*words: str) -> list[str]:
    return subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()


def changed_files(base: str) -> list[str]:
    """The files that differ from a commit and are still there, new ones too."""
    names = {*output("git", "diff", "--name-only", base), *output("git", "ls-files", "--others", "--exclude-standard")}
    return sorted(name for name in names if (ROOT / name).is_file())


def below(files: list[str], *folders: str) -> list[str]:
    return [file for file in files if file.startswith(tuple(f"{folder}/" for folder in folders))]


def rust_steps(files: list[str]) -> list[list[str]]:
    if not any(file.endswith((".rs", "Cargo.toml")) for file in files):
        return []
    # All crates: another selection would have other features, and cargo would compile what they depend on anew.
    return [["make", "--no-print-directory", goal] for goal in ("verify-rust", "test-rust-units")]


def python_steps(files: list[str]) -> list[list[str]]:
    sources = [file for file in files if file.endswith(".py")]
    if not sources:
        return []
    tests = [file for file in below(sources, "python-tests") if Path(file).name.startswith("test_")]
    steps = [[".venv/bin/ruff", "format", "--check", *sources], [".venv/bin/ruff", "check", *sources]]
    if below(sources, "py-binding"):
        steps += [[".venv/bin/mypy"], ["make", "--no-print-directory", "build-python", "PROFILE=dev"]]
        tests += FIRST_LOOK["python"]
    if tests:
        steps.append([".venv/bin/python", "-m", "pytest", "-q", "-n", "2", *dict.fromkeys(tests)])
    return steps


def node_steps(files: list[str]) -> list[list[str]]:
    sources = [file for file in files if file.endswith((".ts", ".mts", ".js", ".mjs", ".cjs"))]
    binding, tests = below(sources, "node-binding"), below(sources, NODE_TESTS)
    steps: list[list[str]] = []
    wanted = [file.removeprefix(f"{NODE_TESTS}/") for file in tests if file.endswith(".test.ts")]
    if binding:
        steps += [["npm", "--prefix", "node-binding", "run", "--silent", it] for it in ("lint", "typecheck")]
        steps.append(["make", "--no-print-directory", "build-node", "PROFILE=dev"])
        wanted += FIRST_LOOK["node"]
    if tests:
        steps += [["npm", "--prefix", NODE_TESTS, "run", "--silent", it] for it in ("lint", "typecheck")]
    if wanted:
        steps.append(["npm", "--prefix", NODE_TESTS, "exec", "--", "vitest", "run", "--root", NODE_TESTS, *wanted])
    return steps


def main() -> int:
    files = changed_files(sys.argv[1] if len(sys.argv) > 1 else "HEAD")
    began = time.monotonic()
    failed = []
    steps = [*rust_steps(files), *python_steps(files), *node_steps(files)]
    if below(files, "python-tests", NODE_TESTS):
        steps.append([sys.executable, ".ci/twins.py"])
    if any(file.endswith(".md") for file in files):
        steps.append(["make", "--no-print-directory", "verify-prose"])
    for step in steps:
        print("+", " ".join(step), flush=True)
        # git tells a hook where its files are, which tests that use git themselves must not be told.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        if subprocess.run(step, cwd=ROOT, env=environment, check=False).returncode != 0:
            failed.append(" ".join(step))
    for words in failed:
        print(f"failed: {words}", file=sys.stderr)
    passed, seconds = len(steps) - len(failed), time.monotonic() - began
    print(f"quick: {len(files)} files, {passed} of {len(steps)} steps passed, {seconds:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
