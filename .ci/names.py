#!/usr/bin/env python3
"""Fails where code has a name that docs/reference/glossary.md replaces, or a type that only says what happened to it.

A word of a row of "Words of our own, judged" that is done may be the name of no type and no file, where the row says,
else in the core. A bare participle (`Seen`, `Told`) names no type: it says nothing of what is seen or told.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
GLOSSARY = ROOT / "docs" / "reference" / "glossary.md"
TYPE = re.compile(r"^\s*(?:pub(?:\([^)]*\))? )?(?:struct|enum|trait|type) (\w+)", re.MULTILINE)
IRREGULAR = (
    "Seen Told Held Given Taken Kept Made Found Lost Known Done Left Gone Sent Written Begun Struck Built Bound Won "
    "Shown Drawn Brought Heard Meant Driven Woken Broken Fallen Said Lent Ran Met"
)
PARTICIPLE = re.compile(rf"(?:{IRREGULAR.replace(' ', '|')}|[A-Z][a-z]+[^e]ed)$")
# Nouns that look like participles, and the field's own words.
NOUNS = {"Seed", "Need", "Feed", "Speed", "Embed"}


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


def sources() -> list[Path]:
    command = ["git", "ls-files", "*.rs"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    return [
        ROOT / name
        for name in listed
        if (ROOT / name).is_file() and not re.search(r"(^|/)tests?/|_tests\.rs$|/tests\.rs$|benches/", name)
    ]


def faults() -> Iterator[str]:
    rows = replaced()
    for path in sources():
        place = str(path.relative_to(ROOT))
        text = path.read_text()
        names = {found[1]: text.count("\n", 0, found.start(1)) + 1 for found in TYPE.finditer(text)}
        for row in rows:
            if place.startswith(row.room):
                yield from (
                    f"{place}:{names[it]}: the glossary replaces the name `{it}`" for it in row.words & names.keys()
                )
                if path.stem in {it.lower() for it in row.words}:
                    yield f"{place}: the glossary replaces the name of this file"
        for name, line in names.items():
            if PARTICIPLE.fullmatch(name) and name not in NOUNS:
                yield f"{place}:{line}: `{name}` only says what happened: add the noun"


def main() -> int:
    found = list(faults())
    print("\n".join(found) or "names are those of the glossary")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
