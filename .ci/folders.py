#!/usr/bin/env python3
"""Fails where a folder has more than twenty files of one kind side by side: nobody finds a file among so many.

Kinds: sources, their tests, documents, by language. What tools write (snapshots, recorded stories) is not counted.

    folders.py          names the folders that have too many
"""

import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MOST = 20
KINDS = {
    ".rs": "Rust",
    ".py": "Python",
    ".ts": "TypeScript",
    ".mts": "TypeScript",
    ".cjs": "TypeScript",
    ".md": "documents",
}
RECORDED = ("conformance", "snapshots", "__snapshots__", "node_modules")


def kind(path: Path) -> str | None:
    """What a file is; `None` for what is not counted."""
    language = KINDS.get(path.suffix)
    if language is None or any(part in RECORDED for part in path.parts):
        return None
    is_test = path.stem.endswith(("_tests", ".test")) or path.name.startswith("test_")
    return f"{language} tests" if is_test else language


def main() -> int:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    paths = [Path(name) for name in tracked if (ROOT / name).is_file()]
    found = Counter((path.parent.as_posix(), it) for path in paths if (it := kind(path)) is not None)
    crowded = sorted((place, it, count) for (place, it), count in found.items() if count > MOST)
    for place, it, count in crowded:
        print(f"{place}: {count} files of {it}; sort them into folders, {MOST} at most", file=sys.stderr)
    if not crowded:
        print(f"{len({place for place, _ in found})} folders, {MOST} files of a kind at most")
    return 1 if crowded else 0


if __name__ == "__main__":
    sys.exit(main())
