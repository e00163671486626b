"""Calls from other threads onto the program's event loop, which may end at any moment: each one gets its answer."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from asyncio import wait as wait_for_tasks  # kept: a program may take it away
from collections.abc import Callable, Coroutine
from typing import Any

from maloko._process.event_loops import LAST_SECONDS, end_tasks

Call = Callable[[], Coroutine[Any, Any, None]]

GRACE_SECONDS = 2.0
"""How long calls that the loop has begun may go on when the program has ended; then they are cancelled."""


class CallsOnLoop:
    """The calls of transforms and hooks that wait for an event loop or go on there.

    Nothing else runs the loop once the program has ended. A call that was left there would never be answered, and the
    engine would wait for it for ever.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[int, tuple[contextvars.Context, Call]] = {}
        self._begun: set[asyncio.Task[None]] = set()
        self._number = 0
        self._ended = False

    def begin(self, loop: asyncio.AbstractEventLoop, context: contextvars.Context, call: Call) -> bool:
        """Has the loop begin the call, in that context. False: the program has ended, and nothing was begun."""
        with self._lock:
            if self._ended:
                return False
            self._number += 1
            number = self._number
            self._waiting[number] = (context, call)
            loop.call_soon_threadsafe(self._begin_now, loop, number, context=context)
            return True

    def _begin_now(self, loop: asyncio.AbstractEventLoop, number: int) -> None:
        with self._lock:
            waiting = self._waiting.pop(number, None)
        if waiting is not None:
            self._start(loop, waiting[1])

    def _start(self, loop: asyncio.AbstractEventLoop, call: Call) -> None:
        task = loop.create_task(call())
        self._begun.add(task)
        task.add_done_callback(self._begun.discard)

    @property
    def begun(self) -> frozenset[asyncio.Task[None]]:
        """The calls that go on. Ask on the loop's thread."""
        return frozenset(self._begun)

    def end(self, loop: asyncio.AbstractEventLoop) -> None:
        """Lets the calls end that the loop has begun or was to begin. Call it when the program has ended."""
        with self._lock:
            self._ended = True
            waiting = list(self._waiting.values())
            self._waiting.clear()
        for context, call in waiting:
            context.run(self._start, loop, call)
        if going_on := self.begun:
            loop.run_until_complete(wait_for_tasks(going_on, timeout=GRACE_SECONDS))
        end_tasks(loop, self.begun, LAST_SECONDS)
