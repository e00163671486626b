"""The command line."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from typing import NoReturn

from maloko._process.standard_streams import open_standard_streams

# A program may put another one in its place.
_exit = os._exit


def run(arguments: list[str], *, helper: bool = True) -> int:
    """Runs the command line with these arguments and returns its exit code."""
    from maloko._command_line.first_pass import fork_helper
    from maloko._command_line.language_host import LanguageHost
    from maloko._command_line.late_host import LateHost
    from maloko._maloko import cli_main
    from maloko._process.signals import leave_to_engine

    if threading.current_thread() is threading.main_thread():
        # From here on Ctrl-C is the command line's: Python's own handler would be called beside it, and raise in the
        # middle of a provider's method.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        leave_to_engine()
    child = fork_helper(arguments, lambda more: run(more, helper=False)) if helper else None
    language_host = LanguageHost(child)
    try:
        return cli_main(arguments, language_host, LateHost())
    finally:
        language_host.ends.over()


def leave(code: int) -> NoReturn:
    """Ends the process as the interpreter does, but without tearing it down.

    While it is torn down, CPython ends a thread of ours that comes back from Rust by unwinding its stack, and Rust
    aborts the process for that: a finished run would be reported as a crash.
    """
    # The same order as in a normal exit: wait for the program's threads, run its exit functions, flush.
    for step in (getattr(threading, "_shutdown", None), getattr(atexit, "_run_exitfuncs", None)):
        if step is not None:
            step()
    for stream in (sys.stdout, sys.stderr):
        try:
            # A program may have taken it away.
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            continue
    _exit(code)


def main() -> None:
    """The console script `maloko`."""
    open_standard_streams()
    leave(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
