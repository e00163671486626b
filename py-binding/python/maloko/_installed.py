"""What pip wrote down of a package when it installed it.

Read here from the folder itself: `importlib.metadata` takes longer to load than all else that a small command does.
"""

from __future__ import annotations

import sys
from pathlib import Path


def version_of(package: str) -> str:
    """The installed version of a package; empty when there is none."""
    folder = _folder(package)
    if folder is not None:
        return folder.name.removeprefix(f"{package}-").removesuffix(_SUFFIX)
    from importlib.metadata import PackageNotFoundError, version  # for what was installed in another way

    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def note_of(package: str, name: str) -> str:
    """The text of a file that was written beside the package; empty when there is none."""
    folder = _folder(package)
    try:
        return "" if folder is None else (folder / name).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


_SUFFIX = ".dist-info"


def _folder(package: str) -> Path | None:
    """The folder of the package's notes; `None` where they are kept elsewhere (in an archive, by another importer)."""
    for place in sys.path:
        try:
            found = next(Path(place).glob(f"{package}-*{_SUFFIX}"), None)
        except OSError:
            continue
        if found is not None:
            return found
    return None
