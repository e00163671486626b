"""Where the SDKs of packages are."""

from __future__ import annotations

import sys


def search_path() -> list[str]:
    """The folders in which this interpreter looks for packages."""
    return [folder for folder in sys.path if folder]
