"""The signals that end what waits, as Ctrl-C does."""

from __future__ import annotations

import signal
import sys


def ending_signals() -> list[signal.Signals]:
    """Ctrl-C, SIGTERM and the end of the terminal; the last one not where it is ignored, as under `nohup`."""
    numbers = [signal.SIGINT, signal.SIGTERM]
    if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    return numbers
