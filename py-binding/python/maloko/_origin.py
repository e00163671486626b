"""Where this package was installed from."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname


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
    file = Path(url2pathname(address.path))
    return str(file) if file.is_file() else ""
