"""The installation that runs a command, and where this package was installed from."""

from __future__ import annotations

import json
import os
import platform
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

from maloko._installed import note_of
from maloko._sdk.version import sdk_version

About = tuple[str, str, str, str, list[str]]


def about() -> About:
    """The interpreter's version and path, the SDK's version, the file that this package was installed from, and the
    folders in which this interpreter looks for packages."""
    folders = [folder for folder in sys.path if folder]
    return platform.python_version(), sys.executable, sdk_version(), installed_from(), folders


def own_command() -> tuple[str, list[str], str]:
    """The interpreter, what starts this command line in it, and the folder in which that finds this package."""
    import subprocess  # only for programs in a process of their own

    # As for the interpreters of `multiprocessing`: what was set for this one (-X, -W) is set for that one.
    flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    return sys.executable, [*flags, "-m", "maloko"], str(Path(__file__).parents[2])


def installed_from() -> str:
    """The file that this package was installed from; empty when that was an index, or is not known."""
    try:
        origin = json.loads(note_of("maloko", "direct_url.json") or "{}")
    except ValueError:
        return ""
    address = urlsplit(str(origin.get("url", "")))
    # An installation from a directory would have to be built again.
    if address.scheme != "file" or "archive_info" not in origin:
        return ""
    path = unquote(address.path)
    # `file:///C:/...` on Windows.
    file = Path(path.removeprefix("/") if os.name == "nt" else path)
    return str(file) if file.is_file() else ""
