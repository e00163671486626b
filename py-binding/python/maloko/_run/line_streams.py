"""Streams in the place of `sys.stdout` and `sys.stderr` that take what is printed line by line."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TextIO, TypeVar, cast

from maloko._process.forks import OwnProcess

PRINTED = 4
"""The severity of printed output."""

LINE_ENDS = re.compile(r"\r\n|\n|\r")
"""A lone carriage return ends a line too: progress bars write one."""


class LineStream:
    """A text stream over another one, to which it passes on everything that it does not take."""

    def __init__(self, under: TextIO) -> None:
        self.under = under
        """The stream that was there before."""
        self.process = OwnProcess()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.under, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.under)

    def write(self, text: str) -> int:
        """Writes a text."""
        return self.under.write(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Writes texts one after the other."""
        for line in lines:
            self.write(line)


Stream = TypeVar("Stream", bound=LineStream)


@contextlib.contextmanager
def in_place_of_streams(made: Callable[[TextIO], Stream]) -> Iterator[list[Stream]]:
    """Takes the place of `sys.stdout` and `sys.stderr`. `MALOKO_CAPTURE=0` leaves them alone: then it gives none."""
    if os.environ.get("MALOKO_CAPTURE") == "0":
        yield []
        return
    originals = sys.stdout, sys.stderr
    streams = [made(original) for original in originals]
    sys.stdout, sys.stderr = cast("list[TextIO]", streams)
    try:
        yield streams
    finally:
        for stream, name, original in zip(streams, ("stdout", "stderr"), originals, strict=True):
            # Whoever put a stream of their own there keeps it.
            if getattr(sys, name) is stream:
                setattr(sys, name, original)
