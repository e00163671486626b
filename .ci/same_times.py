#!/usr/bin/env python3
"""Lets a clean clone use what cargo made in an earlier one.

    same_times.py FOLDER    FOLDER: the target folder that is kept between runs, which keeps the list of files as well

cargo compiles what is newer than what it made, and in a clean clone all is. A file with the content of the last run
gets the time that it had then; one with another content keeps its own, which is newer than anything made of it.
"""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    listed = Path(sys.argv[1]) / "times-of-the-last-run.json"
    last = json.loads(listed.read_text()) if listed.exists() else {}
    now = {}
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, tracked.split("\0")):
        file = ROOT / name
        if not file.is_file() or file.is_symlink():
            continue
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        was = last.get(name)
        if was is not None and was["sha256"] == digest:
            os.utime(file, ns=(was["mtime"], was["mtime"]))
        now[name] = {"sha256": digest, "mtime": file.stat().st_mtime_ns}
    listed.parent.mkdir(parents=True, exist_ok=True)
    listed.write_text(json.dumps(now))


if __name__ == "__main__":
    main()
