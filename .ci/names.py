#!/usr/bin/env python3
"""Fails where code has a name that docs/reference/glossary.md replaces, or a type that only says what happened to it.

A word of a row of "Words of our own, judged" that is done may be the name of no type and no file, where the row says,
else in the core. A bare participle (`Seen`, `Told`) names no type, in Rust, Python and TypeScript: it says nothing of
what is seen or told.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
GLOSSARY = ROOT / "docs" / "reference" / "glossary.md"
RUST = re.compile(r"^\s*(?:pub(?:\([^)]*\))? )?(?:struct|enum|trait|type) (\w+)", re.MULTILINE)
# A class, or an alias of a type.
PYTHON = re.compile(r"^(?:\s*class |(?=\w+ = \w+\[))(\w+)", re.MULTILINE)
TYPESCRIPT = re.compile(
    r"^\s*(?:export )?(?:default )?(?:declare )?(?:abstract )?(?:class|interface|type) (\w+)", re.MULTILINE
)
# What names a type, by the files in which it does.
TYPES = {
    "*.rs": RUST,
    "py-binding/python/*.py": PYTHON,
    "node-binding/ts/*.ts": TYPESCRIPT,
    "page/src/*.ts": TYPESCRIPT,
    "page/src/*.tsx": TYPESCRIPT,
}
TESTS = re.compile(r"(^|/)tests?/|_tests\.rs$|/tests\.rs$|benches/|\.test\.")

IRREGULAR = (
    "Seen Told Held Given Taken Kept Made Found Lost Known Done Left Gone Sent Written Begun Struck Built Bound Won "
    "Shown Drawn Brought Heard Meant Driven Woken Broken Fallen Said Lent Ran Met Hidden Swept Torn Thrown"
)
PARTICIPLE = re.compile(rf"_*(?:{IRREGULAR.replace(' ', '|')}|[A-Z][a-z]*[^e]ed)")
# Nouns that look like participles, and the field's own words.
NOUNS = {"Seed", "Need", "Feed", "Speed", "Embed"}
PUBLIC = {
    "Checked": "users import it from `maloko`: what `check` answers",
    "Planned": "users import it from `maloko/testing`: what is done to one resource",
    "Validated": "users import it from `maloko`: what a schema makes of a value",
}
"""Names that stay, each with the reason."""

# Where a row is about a part of the code, its first cell says which.
ROOMS = {
    "core": "engine-core/src",
    "driver": "engine-core/src/driver",
    "planner": "engine-core/src/plan",
    "command line": "engine-cli/src",
    "kit": "engine-kit/src",
    "kits": "engine-kit/src",
    "model": "engine-model/src",
    "PostgreSQL": "engine-stores/src/postgres",
    "object stores": "engine-stores/src/object",
}


class Row(NamedTuple):
    words: set[str]
    room: str


def replaced() -> list[Row]:
    """The rows that are done: the words that are no longer names, and where."""
    rows = []
    section = GLOSSARY.read_text().split("## Words of our own, judged")[1].split("\n## ")[0]
    for line in section.splitlines():
        before, now, _, done = ([cell.strip() for cell in line.split("|")[1:5]] + [""] * 4)[:4]
        room = re.search(r"\((.*?)\)", before)
        if done == "yes" and now != "kept" and (room is None or room[1] in ROOMS):
            words = set(re.findall(r"`(\w+)`", before)) - set(re.findall(r"`(\w+)`", now))
            rows.append(Row(words, ROOMS[room[1]] if room else "engine-core/src"))
    return rows


def sources() -> Iterator[tuple[str, re.Pattern[str]]]:
    """The files that are no tests, each with what names a type in it."""
    for files, pattern in TYPES.items():
        command = ["git", "ls-files", files]
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
        yield from ((name, pattern) for name in listed if (ROOT / name).is_file() and not TESTS.search(name))


def faults() -> Iterator[str]:
    rows = replaced()
    for place, pattern in sources():
        text = (ROOT / place).read_text()
        names = {found[1]: text.count("\n", 0, found.start(1)) + 1 for found in pattern.finditer(text)}
        for row in rows:
            if place.startswith(row.room):
                yield from (
                    f"{place}:{names[it]}: the glossary replaces the name `{it}`" for it in row.words & names.keys()
                )
                if Path(place).stem in {it.lower() for it in row.words}:
                    yield f"{place}: the glossary replaces the name of this file"
        for name, line in names.items():
            if PARTICIPLE.fullmatch(name) and name not in NOUNS | PUBLIC.keys():
                yield f"{place}:{line}: `{name}` only says what happened: add the noun"


def main() -> int:
    found = list(faults())
    print("\n".join(found) or "names are those of the glossary")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
