"""The first pass of a two-pass command, in a process in which no user code has run.

The helper is forked before this process has a thread, a signal handler or a line of user code in it, and waits; by
then the SDK is loaded, so that the pass starts in milliseconds. Where there is no fork, a fresh interpreter is used.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable

from maloko._sdk.load import load_sdk

TWO_PASS_COMMANDS = frozenset({"up", "update", "refresh", "destroy", "import"})


class PassHelper:
    """A forked child that waits for a command line to run."""

    def __init__(self, pid: int, pipe: int) -> None:
        self._pid = pid
        self._pipe = pipe

    def run(self, arguments: list[str]) -> int | None:
        """Lets the child run the command line; its exit code, or `None` when it could not be asked."""
        try:
            with os.fdopen(self._pipe, "w", encoding="utf-8") as pipe:
                json.dump(arguments, pipe)
        except OSError:
            return None
        _, status = os.waitpid(self._pid, 0)
        self._pid = 0
        code = os.waitstatus_to_exitcode(status)
        # A child that died of a signal counts as its shell would count it.
        return code if code >= 0 else 128 - code

    def send_signal(self, number: int) -> None:
        """Sends a signal to the child while it runs."""
        if self._pid != 0:
            os.kill(self._pid, number)


def fork_helper(arguments: list[str], main: Callable[[list[str]], int]) -> PassHelper | None:
    """Forks a helper if the command line may need one. `main` runs a command line in the child."""
    if not TWO_PASS_COMMANDS.intersection(arguments) or not hasattr(os, "fork") or sys.platform == "darwin":
        return None
    # What works on many stacks does it elsewhere.
    if {"--skip-preview", "-f", "--preview-only", "fleet"}.intersection(arguments):
        return None
    if "--isolated" not in arguments:
        # Both processes have it then.
        load_sdk()
        import maloko._run.program  # noqa: F401

    read, write = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid != 0:
        os.close(read)
        return PassHelper(pid, write)
    os.close(write)
    code = 255
    try:
        code = _wait_and_run(read, main)
    except BaseException:  # nothing may run the parent's code a second time
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _wait_and_run(pipe: int, main: Callable[[list[str]], int]) -> int:
    # While it waits, Ctrl-C is the parent's business.
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    with os.fdopen(pipe, encoding="utf-8") as file:
        command = file.read()
    signal.signal(signal.SIGINT, previous)
    return main(json.loads(command)) if command else 0
