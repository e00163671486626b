"""The operations that go on in this process, so that any object for the same stack can cancel them."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from pulumi.automation import Stack

from maloko.automation._threads import Cancellable


class _Entry:
    """An operation, from the moment in which it may begin."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.runs: list[Cancellable] = []


_lock = threading.Lock()
_entries: list[_Entry] = []
"""For the whole process: what it knows is only who works on what."""


@contextmanager
def noted(stack: Stack) -> Iterator[list[Cancellable]]:
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
    with _lock:
        entries = list(_entries)
    place = _place(stack) if entries else None
    found = [run for entry in entries if entry.stack is stack or _place(entry.stack) == place for run in entry.runs]
    for run in found:
        run.cancel()
    return bool(found)


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
