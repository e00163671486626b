"""The table of docs/internals/hostile-providers.md, of what was seen in this process."""

import json
import os
import re
from pathlib import Path

DOCUMENT = Path(__file__).parents[2] / "docs" / "internals" / "hostile-providers.md"
AGAIN = "run make hostile-table"
METHODS = ("configure", "check", "diff", "create", "read", "update", "delete")
"""As the document's columns have them."""

_seen: dict[str, dict[str, str]] = {}


def note(_language: str, name: str, method: str, outcome: str) -> None:
    """Takes note of a cell; with MALOKO_HOSTILE_SEEN=FILE all are written there."""
    _seen.setdefault(name, {})[method] = outcome
    if file := os.environ.get("MALOKO_HOSTILE_SEEN"):
        Path(file).write_text(json.dumps(_seen, indent=1))


def rows(text: str, language: str) -> dict[str, list[str]]:
    """The cells of a language in the document."""
    found = {}
    for line in text.splitlines():
        match = re.fullmatch(r"\| ([^|]+) \| (python|nodejs) \| (.+) \|", line)
        if match and match[2] == language:
            found[match[1]] = match[3].split(" | ")
    return found


def check_document(language: str, cells: int) -> None:
    """Compares what was seen with the document; `cells` is how many there are when all tests have run."""
    written = rows(DOCUMENT.read_text(), language)
    for name, outcomes in _seen.items():
        assert written.get(name) is not None, f"{DOCUMENT.name} lacks '{name}': {AGAIN}"
        for method, outcome in outcomes.items():
            assert outcome == written[name][METHODS.index(method)], f"{DOCUMENT.name} is stale at '{name}': {AGAIN}"
    if sum(len(outcomes) for outcomes in _seen.values()) == cells:
        assert set(written) == set(_seen), f"{DOCUMENT.name} has rows that are gone: {AGAIN}"
