#!/usr/bin/env python3
"""Fails where a folder has more than twenty files of one kind side by side: nobody finds a file among so many.

Kinds: sources, their tests, documents, by language. What tools write (snapshots, recorded stories) is not counted.
"""

import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAX_FILES = 20
KINDS = {".rs": "Rust", ".py": "Python", ".md": "documents"} | dict.fromkeys((".ts", ".mts", ".cjs"), "TypeScript")
RECORDED = ("conformance", "snapshots", "__snapshots__", "node_modules")


def kind(path: Path) -> str | None:
    """What a file is; `None` for what is not counted."""
    language = KINDS.get(path.suffix)
    if language is None or any(part in RECORDED for part in path.parts):
        return None
    is_test = path.stem.endswith(("_tests", ".test")) or path.name.startswith("test_")
    return f"{language} tests" if is_test else language


def main() -> int | str:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    paths = [Path(name) for name in tracked if (ROOT / name).is_file()]
    found = Counter((str(path.parent), it) for path in paths if (it := kind(path)))
    crowded = [f"{place}: {count} files of {it}" for (place, it), count in sorted(found.items()) if count > MAX_FILES]
    print("\n".join(crowded) or "no folder is crowded")
    return f"sort them into folders, {MAX_FILES} of a kind at most" if crowded else 0


if __name__ == "__main__":
    sys.exit(main())
