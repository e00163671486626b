#!/usr/bin/env python3
"""Looks at what a commit would change: formatting, lints and types of the languages that it touches, the unit tests of
the crates, the tests that it changes, and a first look at each language's package.

    quick.py [BASE]     BASE: what to compare with; HEAD unless it is given

The quickest steps come first, and the first that fails ends it: what it said is the end of the output. Most runs take a
minute; the first one compiles everything, which takes minutes. Where the Rust of a binding has changed, `make types`
builds both packages and writes the generated types, which the type checkers then read.

`make hook` makes git run it before each commit. What must pass to land is `make verify` and `make test`.
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NODE_BINDING, NODE_TESTS = "node-binding", "node-tests"
NODE_FOLDERS = (NODE_BINDING, NODE_TESTS)
FIRST_LOOK = {"python": ["python-tests/providers/test_results.py"], "node": ["providers/results.test.ts"]}
# What both kits judge alike, as data.
CORPUS = {"python": "python-tests/testing_kit/test_corpus.py", "node": "testing_kit/corpus.test.ts"}
# What more tests than these use is looked at by `make test`.
MOST_USERS = 4


def output(*words: str) -> list[str]:
    return subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()


def changed_files(base: str) -> list[str]:
    """The files that differ from a commit and are still there, new ones too."""
    names = {*output("git", "diff", "--name-only", base), *output("git", "ls-files", "--others", "--exclude-standard")}
    return sorted(name for name in names if (ROOT / name).is_file())


def below(files: list[str], *folders: str) -> list[str]:
    return [file for file in files if file.startswith(tuple(f"{folder}/" for folder in folders))]


def make(*words: str) -> list[str]:
    return ["make", "--no-print-directory", *words]


def npm(folder: str, script: str) -> list[str]:
    return ["npm", "--prefix", folder, "run", "--silent", script]


def rust_files(files: list[str]) -> list[str]:
    return [file for file in files if file.endswith((".rs", "Cargo.toml"))]


def python_files(files: list[str]) -> list[str]:
    return [file for file in files if file.endswith(".py")]


def node_files(files: list[str]) -> list[str]:
    return [file for file in files if file.endswith((".ts", ".mts", ".js", ".mjs", ".cjs"))]


def users(folder: str, tests: str, helpers: list[str], imported: str) -> list[str]:
    """The tests below a folder that import a helper; `imported` is the expression of that, with {} for its name."""
    found: list[str] = []
    for helper in helpers:
        name = re.compile(imported.format(re.escape(Path(helper).stem)), re.MULTILINE)
        there = (file for file in (ROOT / folder).rglob(tests) if "node_modules" not in file.parts)
        using = [str(file.relative_to(ROOT)) for file in there if name.search(file.read_text())]
        found += using if len(using) <= MOST_USERS else []
    return sorted(set(found))


def reading_steps(files: list[str]) -> list[list[str]]:
    """Seconds each: nothing is compiled."""
    steps: list[list[str]] = []
    if rust_files(files):
        steps.append(["cargo", "fmt", "--all", "--check"])
    if sources := python_files(files):
        steps += [[".venv/bin/ruff", "format", "--check", *sources], [".venv/bin/ruff", "check", *sources]]
    steps += [npm(folder, "lint") for folder in NODE_FOLDERS if below(node_files(files), folder)]
    if below(files, "python-tests", NODE_TESTS):
        steps.append([sys.executable, ".ci/twins.py"])
    if any(file.endswith(".md") for file in files):
        steps.append(make("verify-prose"))
    return steps


def rust_steps(files: list[str]) -> list[list[str]]:
    if not rust_files(files):
        return []
    # All crates: another selection would have other features, and cargo would compile what they depend on anew.
    steps = [make("verify-rust"), make("test-rust-units")]
    # The type checkers read what is generated from these.
    if below(rust_files(files), "py-binding", NODE_BINDING):
        steps.append(make("types", "PROFILE=dev"))
    return steps


def python_steps(files: list[str]) -> list[list[str]]:
    sources = python_files(files)
    inside = below(sources, "python-tests")
    tests = [file for file in inside if Path(file).name.startswith("test_")]
    tests += users("python-tests", "test_*.py", sorted({*inside} - {*tests}), r"^(?:from|import) (?:\w+\.)*{}\b")
    if below(files, "engine-kit/corpus"):
        tests.append(CORPUS["python"])
    steps: list[list[str]] = []
    if below(sources, "py-binding"):
        steps += [[".venv/bin/mypy"], make("build-python", "PROFILE=dev")]
        tests += FIRST_LOOK["python"]
    if tests:
        steps.append([".venv/bin/python", "-m", "pytest", "-q", "-n", "2", *dict.fromkeys(tests)])
    return steps


def node_steps(files: list[str]) -> list[list[str]]:
    sources = node_files(files)
    tests = below(sources, NODE_TESTS)
    named = [file for file in tests if file.endswith(".test.ts")]
    named += users(NODE_TESTS, "*.test.ts", sorted({*tests} - {*named}), r'/{}(?:\.[a-z]+)?"')
    wanted = [file.removeprefix(f"{NODE_TESTS}/") for file in named]
    if below(files, "engine-kit/corpus"):
        wanted.append(CORPUS["node"])
    steps: list[list[str]] = []
    if below(sources, NODE_BINDING):
        steps += [npm(NODE_BINDING, "typecheck"), make("build-node", "PROFILE=dev")]
        wanted += FIRST_LOOK["node"]
    if tests:
        steps.append(npm(NODE_TESTS, "typecheck"))
    if wanted:
        vitest = ["npm", "--prefix", NODE_TESTS, "exec", "--", "vitest", "run", "--root", NODE_TESTS]
        steps.append([*vitest, *dict.fromkeys(wanted)])
    return steps


def main() -> int:
    files = changed_files(sys.argv[1] if len(sys.argv) > 1 else "HEAD")
    began = time.monotonic()
    steps = [*reading_steps(files), *rust_steps(files), *python_steps(files), *node_steps(files)]
    # git tells a hook where its files are, which tests that use git themselves must not be told.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    passed = 0
    for step in steps:
        print("+", " ".join(step), flush=True)
        if subprocess.run(step, cwd=ROOT, env=environment, check=False).returncode != 0:
            print(f"failed: {' '.join(step)}", file=sys.stderr)
            break
        passed += 1
    seconds = time.monotonic() - began
    print(f"quick: {len(files)} files, {passed} of {len(steps)} steps passed, {seconds:.0f} s")
    return 0 if passed == len(steps) else 1


if __name__ == "__main__":
    sys.exit(main())
