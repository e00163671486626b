"""Says which glibc a package's compiled parts need, and fails where one needs a newer one than it may.

glibc.py [--most 2.17] FILE...: wheels, npm packages, shared libraries.
"""

import argparse
import io
import re
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection

LIBRARY = re.compile(r"\.(so|node)(\.[0-9.]+)?$")
# Beside these nothing may be needed: every Linux with glibc has them.
SYSTEM = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libgcc_s.so.1"}


def libraries(file: Path) -> Iterator[tuple[str, bytes]]:
    """The compiled parts of a package, with their names."""
    if file.suffix == ".whl":
        with zipfile.ZipFile(file) as wheel:
            yield from ((name, wheel.read(name)) for name in wheel.namelist() if LIBRARY.search(name))
    elif file.name.endswith((".tgz", ".tar.gz")):
        with tarfile.open(file) as package:
            for member in package:
                opened = package.extractfile(member) if LIBRARY.search(member.name) else None
                if opened is not None:
                    yield member.name, opened.read()
    else:
        yield file.name, file.read_bytes()


def number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def needs(library: bytes) -> tuple[str, set[str]]:
    """The newest version of glibc whose symbols a library asks for, and the libraries that it loads."""
    elf: Any = ELFFile(io.BytesIO(library))
    dynamic = elf.get_section_by_name(".dynamic")
    loaded = {tag.needed for tag in dynamic.iter_tags("DT_NEEDED")} if dynamic else set()
    versions = [
        asked.name.removeprefix("GLIBC_")
        for section in elf.iter_sections()
        if isinstance(section, GNUVerNeedSection)
        for _, symbols in section.iter_versions()
        for asked in symbols
        if re.fullmatch(r"GLIBC_[0-9.]+", asked.name)
    ]
    return max(versions, key=number, default="0"), loaded


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", help="the newest glibc that may be needed")
    parser.add_argument("files", nargs="+", type=Path)
    given = parser.parse_args()
    wrong = 0
    for file in given.files:
        found = list(libraries(file))
        if not found:
            print(f"{file.name}: has no compiled part", file=sys.stderr)
            wrong += 1
        for name, library in found:
            version, loaded = needs(library)
            foreign = sorted(it for it in loaded if it not in SYSTEM and not it.startswith("ld-linux"))
            too_new = given.most is not None and number(version) > number(given.most)
            print(f"{file.name}: {name} needs glibc {version}{', and ' + ', '.join(foreign) if foreign else ''}")
            if too_new:
                print(f"{file.name}: that is newer than {given.most}", file=sys.stderr)
            if too_new or foreign:
                wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
