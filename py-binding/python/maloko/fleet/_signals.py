"""The signals that end what waits: Ctrl-C, SIGTERM and the end of the terminal."""

from __future__ import annotations

import contextlib
import signal
import sys
import time
from collections.abc import Iterator

_SECONDS = 1.0
"""Signals within so many count as one: `timeout` sends two."""


def ending_signals() -> list[signal.Signals]:
    """Those that are heard; the end of the terminal is not where it is ignored, as under `nohup`."""
    numbers = [signal.SIGINT, signal.SIGTERM]
    if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    return numbers


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Signals raise `KeyboardInterrupt` in it; after it, one ends the process, for there is nothing to end in order."""
    last = -_SECONDS

    def hear(_number: int, _frame: object) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _SECONDS:
            last = now
            raise KeyboardInterrupt

    numbers = ending_signals()
    for number in numbers:
        signal.signal(number, hear)
    try:
        yield
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Signals do nothing in it: what a command has started is ended, however often somebody asks."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in ending_signals()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
