"""Printed output of provider methods, told line by line on the resource in whose call it was printed.

The command line captures file descriptors 1 and 2 as well, but cannot know whose bytes arrive there when several
calls run at a time. What Python code prints is known: the current call stands in its context.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, TextIO

from maloko._current import CURRENT_CALL
from maloko._process.terminal import is_borrowed_here
from maloko._run.line_streams import LINE_ENDS, PRINTED, LineStream, in_place_of_streams

if TYPE_CHECKING:
    from maloko._maloko import Engine


class CallStream(LineStream):
    """A text stream that takes to the engine what provider methods write, and passes on everything else."""

    def __init__(self, under: TextIO, engine: Engine) -> None:
        super().__init__(under)
        self._engine = engine
        self._begun: dict[str, str] = {}
        """By URN: the line that is not complete yet."""
        self._flushed: dict[str, str] = {}
        """By URN: the same, where it was told already. A question is, before its answer is read."""
        self._lock = threading.Lock()

    def write(self, text: str) -> int:
        """Writes a text."""
        call = CURRENT_CALL.get()
        has_terminal = is_borrowed_here()
        if call is None or has_terminal or not isinstance(text, str) or not self.process.is_here():
            written = self.under.write(text)
            if has_terminal or "\n" in text:
                # The descriptor is a pipe to the display: a line that waits in a buffer would be told too late.
                self.under.flush()
            return written
        with self._lock:
            self._flushed.pop(call.urn, None)
            *lines, rest = LINE_ENDS.split(self._begun.pop(call.urn, "") + text)
            if rest:
                self._begun[call.urn] = rest
        self._tell(call.urn, lines)
        return len(text)

    def flush(self) -> None:
        """Passes on what was begun by the current call, or outside of calls."""
        call = CURRENT_CALL.get()
        if call is None or is_borrowed_here() or not self.process.is_here():
            self.under.flush()
            return
        with self._lock:
            rest = self._begun.pop(call.urn, "")
            if rest:
                self._flushed[call.urn] = rest
        self._tell(call.urn, [rest])

    def show_begun(self) -> None:
        """Writes what the current call has begun to the terminal, which it has now."""
        call = CURRENT_CALL.get()
        if call is not None:
            with self._lock:
                flushed = self._flushed.pop(call.urn, "")
                rest = self._begun.pop(call.urn, "") or flushed
            self.under.write(rest)
        self.under.flush()

    def end_call(self) -> None:
        """Passes on what the current call has begun; called when it ends."""
        self.flush()

    def finish(self) -> None:
        """Passes on all that was begun."""
        with self._lock:
            begun, self._begun = self._begun, {}
        for urn, rest in begun.items():
            self._tell(urn, [rest])

    def _tell(self, urn: str, lines: list[str]) -> None:
        # Without the lock: the engine may wait for the interpreter, and so for a thread that prints.
        for line in lines:
            if line.strip():
                self._engine.log(urn, PRINTED, line)


@contextlib.contextmanager
def told_by_resource(engine: Engine) -> Iterator[None]:
    """Takes the place of `sys.stdout` and `sys.stderr`; `MALOKO_CAPTURE=0` leaves them alone."""
    with in_place_of_streams(lambda under: CallStream(under, engine)) as streams:
        try:
            yield
        finally:
            for stream in streams:
                stream.finish()
