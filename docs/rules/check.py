"""Checks the tables of docs/rules: every named test exists, and every rule has a test or says why it has none.

The sources cite the rules by number (`docs/rules 7.2`): each number exists, and nothing is cited that is not in the
repository.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SECTIONS = range(1, 15)
REFERENCE = re.compile(r"`(case|core|cli|py|node):([^`]+)`")

CITATION = re.compile(r"docs/rules ((?:\d+(?:\.\d+)?(?:, | and | to )?)+)")
# Working papers of the first months, which no reader has got.
PAPER = re.compile(
    r"\b(?:semantics|seams|(?<!/)fleets|user-needs|house-review)(?:\.md\b|,? (?:rule )?\d)"
    r"|\b(?:reliability|design|limitations|testing-kit), rule \d|\b[DP]\d of (?!docs/)\w+|(?<!/)\bdesign\.md\b"
)
SOURCES = (".rs", ".py", ".ts", ".mjs", ".toml", "Makefile")


def passing_cases() -> set[str]:
    """The conformance cases that are run on every change, in at least one language."""
    lists = [ROOT / "conformance" / f"pass-{language}.txt" for language in ("python", "nodejs")]
    lines = [line.strip() for path in lists for line in path.read_text().splitlines()]
    return {line for line in lines if line and not line.startswith("#")}


def fault(kind: str, name: str, cases: set[str]) -> str | None:
    """What is wrong with a reference to a test; `None` when the test is there."""
    if kind == "case":
        return None if name in cases else "no such case in conformance/pass-*.txt"
    module, _, test = name.rpartition("::")
    place, pattern = {
        "core": (f"engine-core/{module}.rs", rf"#\[test\]\s*(?:#\[.*\]\s*)*(?:async )?fn {test}\("),
        "cli": (f"engine-cli/{module}.rs", rf"#\[test\]\s*(?:#\[.*\]\s*)*fn {test}\("),
        "py": (f"python-tests/*/{module}.py", rf"def {test}\("),
        "node": (f"node-tests/*/{module}.test.ts", rf"\((['\"`]){re.escape(test)}\1"),
    }[kind]
    path = next(ROOT.glob(place), None)
    if path is None:
        return f"there is no file {place}"
    if not re.search(pattern, path.read_text()):
        return f"{path.relative_to(ROOT)} has no such test"
    return None


def citations(sections: set[str]) -> list[str]:
    """Comments that cite a rule which does not exist, or a paper that is not in the repository."""
    faults: list[str] = []
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if not name.endswith(SOURCES) or not path.is_file() or path == Path(__file__).resolve():
            continue
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            cited = {rule for match in CITATION.findall(line) for rule in re.findall(r"\d+(?:\.\d+)?", match)}
            faults.extend(f"{name}:{number}: docs/rules has no section {rule}" for rule in sorted(cited - sections))
            if paper := PAPER.search(line):
                faults.append(f"{name}:{number}: '{paper.group()}' is not in the repository; cite docs/rules")
    return faults


def main() -> int:
    """Prints every fault with its place; gives 1 when there is one."""
    cases = passing_cases()
    faults: list[str] = []
    sections: set[str] = set()
    for page in sorted(Path(__file__).parent.glob("*.md")):
        for number, line in enumerate(page.read_text().splitlines(), start=1):
            place = f"{page.relative_to(ROOT)}:{number}"
            for kind, name in REFERENCE.findall(line):
                if wrong := fault(kind, name, cases):
                    faults.append(f"{place}: {kind}:{name}: {wrong}")
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            if not cells or not re.match(r"\d", cells[0]):
                continue
            sections |= {cells[0], cells[0].split(".")[0]}
            if len(cells) != 4:
                faults.append(f"{place}: a rule has four cells: section, rule, tests, difference")
            elif not REFERENCE.search(cells[2]) and not cells[3]:
                faults.append(f"{place}: no test pins this rule, and the last cell does not say why")
    faults.extend(f"docs/rules: no rule of section {number}" for number in SECTIONS if str(number) not in sections)
    faults.extend(citations(sections))
    print("\n".join(faults) or "docs/rules: every test that is named exists")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
