"""The operations of this process that go on: any object for the same stack can cancel them and see how far they are."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from pulumi.automation import Stack

from maloko.automation._progress import Progress, progress_of
from maloko.automation._threads import Cancellable


class Run(Cancellable, Protocol):
    """A command that goes on."""

    def progress(self) -> str:
        """How far it has come (JSON)."""


class _Entry:
    """An operation, from the moment in which it may begin."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.runs: list[Run] = []


_lock = threading.Lock()
_entries: list[_Entry] = []
"""For the whole process: what it knows is only who works on what."""


@contextmanager
def noted(stack: Stack) -> Iterator[list[Run]]:
    """Notes an operation on a stack for the time of the block, which puts the run into the list."""
    entry = _Entry(stack)
    with _lock:
        _entries.append(entry)
    try:
        yield entry.runs
    finally:
        with _lock:
            _entries.remove(entry)


def cancel(stack: Stack) -> bool:
    """Cancels what goes on in this process on a stack; gives whether there was anything."""
    found = _runs(stack)
    for run in found:
        run.cancel()
    return bool(found)


def progress(stack: Stack) -> Progress | None:
    """How far the operation of this process on a stack has come; `None` when there is none."""
    found = _runs(stack)
    # The others wait for the first.
    return progress_of(found[0].progress()) if found else None


def _runs(stack: Stack) -> list[Run]:
    with _lock:
        entries = list(_entries)
    own = [run for entry in entries if entry.stack is stack for run in entry.runs]
    others = [entry for entry in entries if entry.stack is not stack]
    # Where a stack is takes a look into its settings.
    place = _place(stack) if others else None
    return own + [run for entry in others if _place(entry.stack) == place for run in entry.runs]


def _place(stack: Stack) -> tuple[str | None, str, str]:
    workspace = stack.workspace
    return workspace.who_am_i().url, workspace.project_settings().name, stack.name.rsplit("/", 1)[-1]


def _leave_to_parent() -> None:
    # In a process that was forked off, what goes on is its parent's.
    global _lock
    _lock = threading.Lock()
    _entries.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)
