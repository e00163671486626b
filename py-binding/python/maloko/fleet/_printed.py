"""What programs print at a worker: each line has its stack before it, and no secret of its run in it."""

from __future__ import annotations

import contextlib
import contextvars
import sys
import threading
from collections.abc import Iterator
from typing import TextIO

from maloko._current import CURRENT_CALL, ProviderCall
from maloko._run.host import Host
from maloko._run.line_streams import LINE_ENDS, PRINTED, LineStream, in_place_of_streams

TOO_LATE = "what was printed after the end of the run is left out: nothing takes the secrets out of it"


class Printing:
    """What one stack prints, on its way to the worker's output."""

    def __init__(self, stack: str, out: TextIO) -> None:
        self._stack = stack
        self._host: Host | None = None
        self._is_over = False
        self._said_so = False
        self._out = out

    def of(self, host: Host | None) -> None:
        """Takes what has the run of the stack in this process; `None` when it is over."""
        self._host, self._is_over = host, host is None

    def say(self, line: str, to: TextIO) -> None:
        """Takes a line that code of the stack has printed. Its run takes the secrets out, and gives it to `tell`.

        When the run is over, nobody can do that any more: the line is left out, and that is said once.
        """
        if not line.strip():
            return
        host = self._host
        engine = None if host is None else host.engine
        if self._is_over:
            if not self._said_so:
                self._said_so = True
                self._write(TOO_LATE, to)
        elif engine is None:
            self._write(line, to)
        else:
            call = CURRENT_CALL.get()
            engine.log("" if call is None else call.urn, PRINTED, line)

    def tell(self, message: str) -> None:
        """Writes what the run of the stack tells."""
        for line in LINE_ENDS.split(message):
            if line.strip():
                self._write(line, self._out)

    def _write(self, line: str, to: TextIO) -> None:
        # In one call, so that lines of several threads do not mix.
        to.write(f"[{self._stack}] {line}\n")
        to.flush()


_PRINTING: contextvars.ContextVar[Printing | None] = contextvars.ContextVar("maloko_printing", default=None)


def printing() -> Printing | None:
    """What the current code prints by; `None` outside of workers."""
    return _PRINTING.get()


class _StackStream(LineStream):
    """A text stream that takes what programs write line by line, and passes on everything else."""

    def __init__(self, under: TextIO) -> None:
        super().__init__(under)
        self._begun: dict[tuple[Printing, ProviderCall | None], str] = {}
        """For each stack, by call: the line that is not complete yet."""
        self._lock = threading.RLock()

    def write(self, text: str) -> int:
        """Writes a text."""
        by = _PRINTING.get()
        if by is None or not isinstance(text, str) or not self.process.is_here():
            return self.under.write(text)
        whose = by, CURRENT_CALL.get()
        with self._lock:
            *lines, rest = LINE_ENDS.split(self._begun.pop(whose, "") + text)
            if rest:
                self._begun[whose] = rest
        # Without the lock: the engine may wait for the interpreter, and so for a thread that prints.
        for line in lines:
            by.say(line, self.under)
        return len(text)

    def end_call(self) -> None:
        """Passes on the line that the current call, or the program, has begun: it has ended."""
        by = _PRINTING.get()
        if by is not None and self.process.is_here():
            with self._lock:
                rest = self._begun.pop((by, CURRENT_CALL.get()), "")
            by.say(rest, self.under)

    def end(self, by: Printing) -> None:
        """Passes on the lines that a stack has begun: nothing follows."""
        with self._lock:
            rests = [self._begun.pop(whose) for whose in list(self._begun) if whose[0] is by]
        for rest in rests:
            by.say(rest, self.under)


def _streams() -> list[_StackStream]:
    return [stream for stream in (sys.stdout, sys.stderr) if isinstance(stream, _StackStream)]


@contextlib.contextmanager
def told_by_stack() -> Iterator[None]:
    """Takes the place of `sys.stdout` and `sys.stderr`; `MALOKO_CAPTURE=0` leaves them alone."""
    with contextlib.nullcontext() if _streams() else in_place_of_streams(_StackStream):
        yield


@contextlib.contextmanager
def printing_as(stack: str) -> Iterator[None]:
    """What is printed by the code inside, and by what it starts, is that stack's."""
    streams = _streams()
    if not streams:
        yield
        return
    by = Printing(stack, streams[0].under)
    token = _PRINTING.set(by)
    try:
        yield
    finally:
        _PRINTING.reset(token)
        for stream in streams:
            stream.end(by)
