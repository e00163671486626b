"""Where this package was installed from."""

from __future__ import annotations

import json
import os
from pathlib import Path
from urllib.parse import unquote, urlsplit


def installed_from() -> str:
    """The file that this package was installed from; empty when that was an index, or is not known."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        text = distribution("maloko").read_text("direct_url.json")
        origin = json.loads(text or "{}")
    except (PackageNotFoundError, OSError, ValueError):
        return ""
    address = urlsplit(str(origin.get("url", "")))
    # An installation from a directory would have to be built again.
    if address.scheme != "file" or "archive_info" not in origin:
        return ""
    path = unquote(address.path)
    # `file:///C:/...` on Windows.
    file = Path(path.removeprefix("/") if os.name == "nt" else path)
    return str(file) if file.is_file() else ""
