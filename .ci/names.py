#!/usr/bin/env python3
"""Fails where code has a name that docs/reference/glossary.md replaces, or a type that only says what happened to it.

Of the rows of "Words of our own, judged" that are done, a word in capitals may be the name of no type, and another one
that of no file. A bare participle (`Seen`, `Told`) names no type either: it says nothing of what is seen or told.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GLOSSARY = ROOT / "docs" / "reference" / "glossary.md"
TYPE = re.compile(
    r"^\s*(?:pub(?:\([^)]*\))? )?(?:struct|enum|trait|type) (\w+)|^class (\w+)|^(?:export )?(?:abstract )?(?:class|interface|type) (\w+)",
    re.MULTILINE,
)
IRREGULAR = (
    "Seen Told Held Given Taken Kept Made Found Lost Known Done Left Gone Sent Written Begun Struck Built Bound Won Shown "
    "Drawn Brought Heard Meant Driven Woken Broken Fallen Woken"
)
PARTICIPLE = re.compile(rf"(?:{IRREGULAR.replace(' ', '|')}|[A-Z][a-z]+[^e]ed)$")
# Nouns that look like participles, and the field's own words.
NOUNS = {"Seed", "Need", "Feed", "Speed", "Embed"}


def replaced() -> tuple[set[str], set[str]]:
    """The types and the files whose names are replaced."""
    types, files = set[str](), set[str]()
    section = GLOSSARY.read_text().split("## Words of our own, judged")[1].split("\n## ")[0]
    for row in section.splitlines():
        before, now, _, done = ([cell.strip() for cell in row.split("|")[1:5]] + [""] * 4)[:4]
        if done == "yes" and now != "kept":
            words = {word for word in re.findall(r"`(\w+)`", before)} - set(re.findall(r"`(\w+)`", now))
            types |= {word for word in words if word[0].isupper()}
            files |= {word for word in words if not word[0].isupper()}
    return types, files


def sources() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "*.rs", "*.py", "*.ts"], cwd=ROOT, capture_output=True, text=True, check=True)
    paths = (ROOT / name for name in listed.stdout.split())
    return [path for path in paths if path.is_file() and not re.search(r"tests?/|_tests?\.|/test_|\.test\.|\.d\.ts$|bench/", str(path))]


def faults() -> Iterator[str]:
    types, files = replaced()
    for path in sources():
        place = path.relative_to(ROOT)
        if path.stem in files:
            yield f"{place}: the glossary replaces the name of this file"
        text = path.read_text()
        for found in TYPE.finditer(text):
            name = next(filter(None, found.groups()))
            line = text.count("\n", 0, found.start(found.lastindex or 0)) + 1
            if name in types and path.suffix == ".rs":
                yield f"{place}:{line}: the glossary replaces the name `{name}`"
            if PARTICIPLE.fullmatch(name) and name not in NOUNS and path.suffix == ".rs":
                yield f"{place}:{line}: `{name}` says what happened, and not what it is: add the noun"


def main() -> int:
    found = sorted(faults())
    print("\n".join(found) or "names are those of the glossary")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
