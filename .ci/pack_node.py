#!/usr/bin/env python3
"""pack_node.py FOLDER: packs node-binding for npm into FOLDER, as `npm pack` does, in a fifth of the time.

npm compresses as well as it can, and a build for tests has 130 MB. What is released, npm packs.
"""

import json
import sys
import tarfile
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "node-binding"


def main() -> None:
    manifest = json.loads((PACKAGE / "package.json").read_text())
    packed = Path(sys.argv[1], f"{manifest['name']}-{manifest['version']}.tgz")
    with tarfile.open(packed, "w:gz", compresslevel=1) as archive:
        for pattern in ("package.json", *manifest["files"]):
            for path in sorted(PACKAGE.glob(pattern)):
                archive.add(path, Path("package", path.relative_to(PACKAGE)))


main()
