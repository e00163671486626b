"""The page of a failed test's last run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from maloko.testing._kit import Kit

_MAX_NAME_LENGTH = 200
"""So many letters of a test's name are in that of its file."""


def write_page(kit: Kit) -> Path | None:
    """Writes the page of the last run of a test into the directory of `--maloko-page`, in a file named after the test.

    Gives the file; `None` where no directory is given, or no run was noted.
    """
    if kit.pages is None or kit.record is None:
        return None
    from maloko._maloko import page_of_record

    name = re.sub(r"[^\w.-]+", "_", kit.test)[-_MAX_NAME_LENGTH:].strip("_")
    kit.pages.mkdir(parents=True, exist_ok=True)
    file = kit.pages / f"{name}.html"
    file.write_text(page_of_record(kit.record), encoding="utf-8")
    return file
