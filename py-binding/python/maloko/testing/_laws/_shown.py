"""What a provider prints and logs."""

from __future__ import annotations

import contextlib
import io
import logging
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def output_heard() -> Iterator[io.StringIO]:
    """What is printed and logged meanwhile."""
    printed = io.StringIO()
    handler = logging.StreamHandler(printed)
    root = logging.getLogger()
    level = root.level
    kept = sys.stdout, sys.stderr
    root.addHandler(handler)
    root.setLevel(min(level, logging.INFO) or logging.INFO)
    sys.stdout = sys.stderr = printed
    try:
        yield printed
    finally:
        sys.stdout, sys.stderr = kept
        root.setLevel(level)
        root.removeHandler(handler)
