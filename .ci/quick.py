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
RUST, PYTHON, NODE = r".*(\.rs|Cargo\.toml)", r".*\.py", r".*\.[mc]?[jt]s"
# What more tests than these use is looked at by `make test`.
MAX_USERS = 4
# Each command, and the files of which one has to have changed. All crates at once: another selection would have other
# features, and cargo would compile what they depend on anew.
STEPS = [
    (RUST, "cargo fmt --all --check"),
    (PYTHON, ".venv/bin/ruff format --check {files}"),
    (PYTHON, ".venv/bin/ruff check {files}"),
    (f"node-binding/{NODE}", "npm --prefix node-binding run --silent lint"),
    (f"node-tests/{NODE}", "npm --prefix node-tests run --silent lint"),
    ("(python|node)-tests/.*", "python3 .ci/twins.py"),
    (r".*\.md", "make --no-print-directory verify-prose"),
    (RUST, "make --no-print-directory verify-rust"),
    (RUST, "make --no-print-directory test-rust-units"),
    (f"(py|node)-binding/{RUST}", "make --no-print-directory types PROFILE=dev"),
    (f"py-binding/{PYTHON}", ".venv/bin/mypy"),
    (f"py-binding/{PYTHON}", "make --no-print-directory build-python PROFILE=dev"),
    (".*", ".venv/bin/python -m pytest -q -n 2 {python_tests}"),
    (f"node-binding/{NODE}", "make --no-print-directory check-types-node-binding"),
    (f"node-binding/{NODE}", "make --no-print-directory build-node PROFILE=dev"),
    (f"node-tests/{NODE}", "make --no-print-directory check-types-node-tests"),
    (".*", "npm --prefix node-tests exec -- vitest run --root node-tests {node_tests}"),
]
# The first look at a changed package, and what both kits judge alike, as data.
PYTHON_LOOKS = {
    f"py-binding/{PYTHON}": "python-tests/providers/test_results.py",
    "engine-kit/corpus/.*": "python-tests/testing_kit/test_corpus.py",
}
NODE_LOOKS = {
    f"node-binding/{NODE}": "node-tests/providers/results.test.ts",
    "engine-kit/corpus/.*": "node-tests/testing_kit/corpus.test.ts",
}


def output(*words: str) -> list[str]:
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True).stdout.splitlines()


def changed_files(base: str) -> list[str]:
    """The files that differ from a commit and are still there, new ones too."""
    subprocess.run(["git", "rev-parse", "--quiet", "--verify", base], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    names = {*output("git", "diff", "--name-only", base), *output("git", "ls-files", "--others", "--exclude-standard")}
    return sorted(name for name in names if (ROOT / name).is_file())


def matching(pattern: str, files: list[str]) -> list[str]:
    return [file for file in files if re.fullmatch(pattern, file)]


def tests(files: list[str], tests: str, helpers: str, imported: str, looks: dict[str, str]) -> list[str]:
    """The changed tests, those that use a changed helper, which is imported as {} says, and the first looks."""
    found = matching(tests, files)
    for helper in sorted({*matching(helpers, files)} - {*found}):
        name = imported.format(re.escape(Path(helper).stem))
        using = matching(tests, output("git", "grep", "--untracked", "-lE", name, "--", helper.split("/")[0]))
        found += using if len(using) <= MAX_USERS else []
    return list(dict.fromkeys(found + [look for pattern, look in looks.items() if matching(pattern, files)]))


def main() -> int:
    files = changed_files(sys.argv[1] if len(sys.argv) > 1 else "HEAD")
    began = time.monotonic()
    python = tests(
        files, r"python-tests/(.*/)?test_\w+\.py", r"python-tests/.*\.py", r"^(from|import) (\w+\.)*{}\b", PYTHON_LOOKS
    )
    node = tests(files, r"node-tests/.*\.test\.ts", f"node-tests/{NODE}", r'/{}(\.[a-z]+)?"', NODE_LOOKS)
    words = {"{python_tests}": python, "{node_tests}": [test.removeprefix("node-tests/") for test in node]}
    steps = []
    for pattern, command in STEPS:
        words["{files}"] = matching(pattern, files)
        # A command that takes files and gets none has nothing to do.
        if words["{files}"] and all(words.get(word, [word]) for word in command.split()):
            steps.append([it for word in command.split() for it in words.get(word, [word])])
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
