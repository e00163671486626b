"""Where this package was installed from."""

from __future__ import annotations

import json
import os
from pathlib import Path
from urllib.parse import unquote, urlsplit

from maloko._installed import note_of


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
