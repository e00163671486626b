"""Notices a program that waits for what never comes: a future that nobody resolves, an input that depends on one."""

from __future__ import annotations

import asyncio
import functools
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from maloko._errors import MalokoError
from maloko._process.event_loops import unfinished_tasks
from maloko._process.tracebacks import is_hidden
from maloko._run.host import some_of

if TYPE_CHECKING:
    from maloko._run.host import Host
    from maloko._sdk.monitor import Monitor

QUIET_SECONDS = 2.0
"""So long a program of a test may wait while nothing goes on that could end its waiting."""
WARNING_SECONDS = 10.0
"""After so long the command line tells of it."""
_LOOKS = 10
"""So often it is looked for something that goes on within that time."""


class Quiet:
    """Looks at a program's event loop at times. Quiet is: no callback is ready, no timer set, no file or socket waited
    for, no request to the engine open, no provider method running, and no thread there that the program began.

    A quiet program is cancelled. With `tell` it goes on, and is mentioned once: a library may have threads that Python
    does not know of.
    """

    def __init__(
        self,
        seconds: float,
        host: Host,
        loop: asyncio.AbstractEventLoop,
        monitor: Monitor,
        program: asyncio.Task[None],
        *,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self.found: BaseException | None = None
        self._tell = tell
        self._seconds, self._host, self._loop, self._monitor, self._program = seconds, host, loop, monitor, program
        self._threads = set(threading.enumerate())
        self._since: float | None = None
        self._timer = loop.call_later(seconds / _LOOKS, self._look)

    def end(self) -> None:
        """Looks no more."""
        self._timer.cancel()

    def _look(self) -> None:
        now = time.monotonic()
        if not self._is_quiet():
            self._since = None
        elif self._since is None:
            self._since = now
        elif now - self._since >= self._seconds and self._tell is not None:
            self._tell(
                self._told(f"the program has waited for {self._seconds:g} s, and nothing goes on that maloko can see")
            )
            return
        elif now - self._since >= self._seconds:
            first = (
                f"the program waits for something that never comes: nothing has happened for {self._seconds:g} s, and "
                "nothing goes on that could change that"
            )
            last = "a program that only takes its time is given more of it: stack(..., quiet=SECONDS)"
            self.found = MalokoError(f"{self._told(first)}\n{last}")
            self._program.cancel()
            return
        self._timer = self._loop.call_later(self._seconds / _LOOKS, self._look)

    def _is_quiet(self) -> bool:
        loop: Any = self._loop
        timers = [timer for timer in loop._scheduled if not timer.cancelled()]
        executor = loop._default_executor
        began = [it for it in threading.enumerate() if it not in self._threads and not it.name.startswith("maloko-")]
        # The one that the selector always knows is what wakes the loop up.
        return not (
            loop._ready
            or timers
            or len(loop._selector.get_map()) > 1
            or getattr(executor, "on_threads", None)
            or self._monitor.pending
            or self._host.is_calling
            or began
        )

    def _told(self, first: str) -> str:
        tasks = unfinished_tasks(self._loop)
        missing = sorted({name for task in tasks for name in _registered_by(task)})
        place = _place_of(self._program)
        lines = [first + (f". It waits at {place}" if place else "")]
        if missing:
            lines.append(f"an input of these resources, or what they depend on, never came: {some_of(missing)}")
        return "\n".join(lines)


def warning_of(host: Host) -> Callable[[asyncio.AbstractEventLoop, Monitor, asyncio.Task[None]], Quiet]:
    """What looks after a program that is only told of."""

    def tell(text: str) -> None:
        if host.engine is not None:
            host.engine.log("", 2, text)

    return functools.partial(Quiet, WARNING_SECONDS, host, tell=tell)


def _awaited(task: asyncio.Task[Any]) -> Iterator[Any]:
    """The frames of a task that waits, from the outermost to the innermost."""
    coroutine: Any = task.get_coro()
    while coroutine is not None:
        frame = getattr(coroutine, "cr_frame", None)
        if frame is not None:
            yield frame
        coroutine = getattr(coroutine, "cr_await", None)


def _registered_by(task: asyncio.Task[Any]) -> Iterator[str]:
    """The resource that the SDK is about to register in a task."""
    for frame in _awaited(task):
        if frame.f_code.co_name in ("do_register", "do_read") and "name" in frame.f_locals:
            yield f"'{frame.f_locals['name']}' ({frame.f_locals.get('ty', 'resource')})"


def _place_of(task: asyncio.Task[Any]) -> str:
    """Where the program's own code waits; empty when it has come to its end."""
    places = [frame for frame in _awaited(task) if not is_hidden(frame.f_code.co_filename)]
    return f"{places[-1].f_code.co_filename}:{places[-1].f_lineno}" if places else ""
