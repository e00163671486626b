"""Processes that are forked off a run: they are copies of it, in which nothing of the engine works.

A child that calls `exec` or leaves by itself (`subprocess`, `multiprocessing`) is none of our business. One that goes
on running the program is: it would deploy a second time what its parent deploys.
"""

from __future__ import annotations

import contextlib
import os
import sys
import weakref
from typing import NoReturn, Protocol

CHILD_EXIT_CODE = 70
"""With this a copy ends that came back to us from user code."""


def _text(parent: int) -> str:
    return (
        f"maloko: process {os.getpid()} was forked off the run of process {parent} and is only a copy of it: it cannot "
        "register resources or write the state, and ends here. The run itself goes on. A child that is to do work of "
        "its own should end with os._exit(), or be started with subprocess, or with multiprocessing and a function"
    )


class OfOneProcess(Protocol):
    """What belongs to the process in which it was made."""

    def leave_to_parent(self) -> None:
        """Called in each copy of the process."""


_to_be_left: weakref.WeakSet[OfOneProcess] = weakref.WeakSet()


def leave_to_parent_on_fork(thing: OfOneProcess) -> None:
    """Has `leave_to_parent` called in every process that is forked off while the object lives."""
    _to_be_left.add(thing)


def _forked() -> None:
    for thing in list(_to_be_left):
        with contextlib.suppress(Exception):
            thing.leave_to_parent()
    _to_be_left.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


class OwnProcess:
    """The process in which it was made."""

    __slots__ = ("_number",)

    def __init__(self) -> None:
        self._number = os.getpid()

    def is_here(self) -> bool:
        """Is this that process, and no copy of it?"""
        return os.getpid() == self._number

    def go_on_only_here(self, error: BaseException | None = None) -> None:
        """Called where user code has come to its end: a copy of the process ends too.

        :param error: what the code raised. A copy that ends by `sys.exit` does what it should, and gets its exit code.
        """
        if os.getpid() != self._number:
            _end(self._number, error)


def _end(parent: int, error: BaseException | None) -> NoReturn:
    code = CHILD_EXIT_CODE
    with contextlib.suppress(BaseException):
        if isinstance(error, SystemExit):
            code = error.code if isinstance(error.code, int) else int(error.code is not None)
        else:
            # Not by sys.stderr: its buffer may hold what the parent will write as well.
            os.write(2, f"{_text(parent)}\n".encode())
        sys.stdout.flush()
    os._exit(code & 0xFF)
