"""Says which tests of python-tests have no twin of the same title in node-tests, and the other way round, and which
twins are in folders of different names.

`test("a stack's state is kept", ...)` is the twin of `def test_a_stack_s_state_is_kept`. What differs from row to row
of a table (`%s`, `${name}`) stands for anything. A test that has none says so in a comment right above itself, with the
reason: `# In Python alone: ...`, `// In Node alone: ...`; a comment `# All in Python alone: ...` stands for a whole
file. `# In Node: ...` is the title of a twin that cannot have the same words.

What both languages would ask of the same Rust code alone is asked once, in Python, where a command is a forked process
and so takes a fraction of the time. That the same can be had from Node shows the smoke test of the folder,
`smoke.test.ts`: the tests of a Python file for which it has a `describe`, or one for the night, need no twins.

Each file of tests is in a folder of its topic, which has the same name in both languages: `programs/test_hooks.py` and
`programs/hooks.test.ts`.
"""

import ast
import re
import sys
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PYTHON, NODE, SMOKE = ROOT / "python-tests", ROOT / "node-tests", "smoke.test.ts"
PLACEHOLDER = re.compile(r"%[a-zA-Z]|\$\{[^}]*\}|\$[a-zA-Z.]+")
# The title of a test, of a table of them after its rows, and of a row of the tests that crash.
TEST, THEN = r"^ *(?:test|it|plain|nightly)", r"\(\s*([\"'`])(?P<title>.*?)\1,\s*"
TITLES = (
    re.compile(TEST + THEN, re.M | re.S),
    re.compile(rf"{TEST}\.(?:each|for|skipIf|runIf)\b.*?\){THEN}(?:async|\(|\{{)", re.M | re.S),
    re.compile(r"\{ title: \"(?P<title>[^\"]+)\", world"),
)
ALONE = re.compile(r"^ *(?:#|//) (?:In|(?P<all>All) in) (?:Python|Node) alone: ", re.M)


class Test(NamedTuple):
    """A test: its title as both languages can write it, or as Node has it in a table, and whether it has no twin."""

    title: str
    file: Path
    line: int
    alone: bool

    @property
    def place(self) -> str:
        return f"{self.file.relative_to(ROOT)}:{self.line}"

    @property
    def topic(self) -> str:
        return self.file.relative_to(ROOT).parts[1]


def words(title: str) -> str:
    """A title as both languages can write it."""
    plain = " ".join(re.findall(r"[a-z0-9]+", title.lower().replace("'", " ")))
    return re.sub(r" s\b", "s", plain)


def pattern(title: str) -> re.Pattern[str]:
    """What the twin of a title is called, in `words`."""
    return re.compile(".*".join(re.escape(words(part)) for part in PLACEHOLDER.split(title)))


def comment_above(text: str, line: int) -> str:
    """The comment that ends right above a line."""
    above = reversed(text.splitlines()[: line - 1])
    return "\n".join(takewhile(lambda it: it.lstrip().startswith(("#", "//")), above))


def all_alone(text: str) -> bool:
    return any(found["all"] for found in ALONE.finditer(text))


def python_tests(file: Path) -> Iterator[Test]:
    text = file.read_text()
    for it in ast.walk(ast.parse(text)):
        if isinstance(it, ast.FunctionDef | ast.AsyncFunctionDef) and it.name.startswith("test_"):
            said = comment_above(text, min(above.lineno for above in (it, *it.decorator_list)))
            other = re.search(r"# In Node: (.*)", said)
            title = other[1] if other else it.name.removeprefix("test_").replace("_", " ")
            yield Test(words(title), file, it.lineno, all_alone(text) or bool(ALONE.search(said)))


def node_tests(file: Path) -> Iterator[Test]:
    text = file.read_text()
    for found in (found for titles in TITLES for found in titles.finditer(text)):
        line = text.count("\n", 0, found.start()) + 1
        # A title that is all of a table's row is there by itself.
        if words(PLACEHOLDER.sub("", found["title"])):
            alone = all_alone(text) or bool(ALONE.search(comment_above(text, line)))
            yield Test(found["title"], file, line, alone)


def asked_once() -> set[Path]:
    """The files of Python's tests for which Node has a smoke test."""
    return {
        PYTHON / smoke.parent.name / f"test_{name}.py"
        for smoke in NODE.glob(f"*/{SMOKE}")
        for name in re.findall(r'^(?:describe|nights)\("(\w+)"', smoke.read_text(), re.M)
    }


def faults_of_files(python: list[Path], node: list[Path]) -> Iterator[str]:
    """The files of one name that are in folders of different ones."""
    by_name: dict[str, list[Path]] = {}
    for file in (*python, *node):
        by_name.setdefault(re.sub(r"^test_|\.py$|\.test\.ts$", "", file.name), []).append(file)
    for name, files in by_name.items():
        if len({file.suffix for file in files}) < len(files) or len({file.parent.name for file in files}) > 1:
            places = " and ".join(str(file.relative_to(ROOT)) for file in files)
            yield f"{places}: files of tests called '{name}' must be in one folder"


def faults_of_comments(tests: list[Test]) -> Iterator[str]:
    """The comments of tests without a twin that are above no test."""
    alone = [test.file for test in tests if test.alone]
    for file in {test.file for test in tests}:
        found = list(ALONE.finditer(file.read_text()))
        if not any(it["all"] for it in found) and len(found) != alone.count(file):
            yield f"{file.relative_to(ROOT)}: has a comment on a test in one language alone that is above no test"


def main() -> int:
    """Prints every fault with its place; gives 1 when there is one."""
    python_files, once = sorted(PYTHON.rglob("test_*.py")), asked_once()
    node_files = sorted(file for file in NODE.glob("*/*.test.ts") if file.name != SMOKE)
    others = [*NODE.glob("*/*.jest.cjs"), *NODE.glob("testing_kit/kit-samples/*.sample.ts")]
    python = [test for file in python_files for test in python_tests(file)]
    node = [test for file in [*node_files, *sorted(others)] for test in node_tests(file)]
    twins: dict[Test, set[str]] = {test: set() for test in (*python, *node)}
    for there in node:
        like = pattern(there.title)
        for here in (it for it in python if like.fullmatch(it.title)):
            twins[here].add(there.topic)
            twins[there].add(here.topic)
    faults = [f"{file.relative_to(ROOT)}: is gone, and has a smoke test" for file in sorted(once - {*python_files})]
    for test, topics in twins.items():
        if test.alone and topics:
            faults.append(f"{test.place}: '{test.title}' is in one language alone, says its comment, and has a twin")
        elif not test.alone and not topics and test.file not in once:
            faults.append(f"{test.place}: '{test.title}' has no twin in the other language")
        elif topics and test.topic not in topics:
            faults.append(f"{test.place}: '{test.title}' has its twin in {', '.join(sorted(topics))}")
    faults += [*faults_of_files(python_files, node_files), *faults_of_comments([*python, *node])]
    print("\n".join(faults) or "the tests of both languages are twins")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
