"""Event loops that we make ourselves: plain selector loops, whatever policy is installed (others break the SDK)."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
import weakref
from asyncio import wait as wait_for_tasks  # kept: a program may take it away
from collections.abc import Awaitable, Callable, Collection
from typing import Any

LAST_SECONDS = 1.0
"""How long what still runs on a loop is waited for when it has been cancelled."""

_FEW_TASKS = 1000
"""So many may be over before they are let go of."""

_PATIENCE_SECONDS = 2.0
"""How long the loop's thread is waited for; one that is blocked by a method is left behind."""


def is_loop_running() -> bool:
    """Is an event loop running on this thread (a notebook, an async function)?"""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def loop_of_thread() -> asyncio.AbstractEventLoop | None:
    """The event loop that was set for this thread, to be put back; none is made, as asking asyncio would do."""
    local = getattr(asyncio.get_event_loop_policy(), "_local", None)
    return getattr(local, "_loop", None)


class _Loop(asyncio.SelectorEventLoop):
    """A plain event loop that knows its own tasks.

    `asyncio.all_tasks` looks at all tasks of the process, also at those of earlier runs that the garbage collector has
    not come to yet: in a test run of many stacks, a fifth of the time.
    """

    def __init__(self) -> None:
        super().__init__()
        # Not a WeakSet, whose bookkeeping in Python costs as much as the task itself.
        self._tasks: list[weakref.ref[asyncio.Task[Any]]] = []
        self._prune_at = _FEW_TASKS

    def create_task(self, coro: Any, **options: Any) -> asyncio.Task[Any]:
        task = super().create_task(coro, **options)
        self._tasks.append(weakref.ref(task))
        if len(self._tasks) > self._prune_at:
            self._tasks = [reference for reference in self._tasks if not _is_over(reference())]
            self._prune_at = max(_FEW_TASKS, 2 * len(self._tasks))
        return task

    def unfinished(self) -> list[asyncio.Task[Any]]:
        """The tasks that are not done."""
        found = [reference() for reference in list(self._tasks)]
        return [task for task in found if task is not None and not task.done()]


def _is_over(task: asyncio.Task[Any] | None) -> bool:
    return task is None or task.done()


def new_loop() -> asyncio.SelectorEventLoop:
    """A plain event loop, whose tasks `unfinished_tasks` knows."""
    return _Loop()


def unfinished_tasks(loop: asyncio.AbstractEventLoop) -> list[asyncio.Task[Any]]:
    """The tasks of a loop that are not done."""
    if isinstance(loop, _Loop):
        return loop.unfinished()
    return [task for task in asyncio.all_tasks(loop) if not task.done()]


def end_tasks(loop: asyncio.AbstractEventLoop, tasks: Collection[asyncio.Task[Any]], *waits: float) -> None:
    """Cancels tasks of a loop that nothing runs, and waits for them; again as often as there are waits, in seconds.

    What has not ended then is left: some tasks do not let themselves be cancelled, and a cancellation can be lost
    (python/cpython issue 86296).
    """
    for seconds in waits:
        tasks = [task for task in tasks if not task.done()]
        for task in tasks:
            task.cancel()
        if tasks:
            loop.run_until_complete(wait_for_tasks(tasks, timeout=seconds))


def is_unclaimed(task: asyncio.Task[Any]) -> bool:
    """Has it ended with an error that nobody has asked it for?"""
    # It is what asyncio itself goes by, when it says so at the task's end in memory.
    return bool(getattr(task, "_log_traceback", False))


class ProviderLoop:
    """The one loop of a run on which `async def` provider methods are awaited.

    It lives as long as the run, so that a client made in `configure` is valid in `create`.
    """

    def __init__(self, failed: Callable[[asyncio.Task[Any]], object] = lambda _task: None) -> None:
        """
        :param failed: is told, in the context in which it was made, of a task whose error nobody has taken.
        """
        self._failed = failed
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        # A loop holds its tasks weakly.
        self._tasks: set[asyncio.Task[None]] = set()

    def start(
        self,
        awaitable: Awaitable[Any],
        done: Callable[[Any, BaseException | None], object],
        settle: Callable[[], Awaitable[None]],
    ) -> Callable[[], object]:
        """Awaits on the loop, in a copy of the current context, and calls `done` there with the outcome.

        `settle` is awaited before that, in the same context. Returns what cancels it all, from any thread.
        """
        tasks: list[weakref.ref[asyncio.Task[None]]] = []

        async def run() -> None:
            try:
                result = await awaitable
                await settle()
            except BaseException as error:  # whatever it is, it ends the call and not the loop
                done(None, error)
            else:
                done(result, None)

        def begin() -> None:
            task = loop.create_task(run())
            tasks.append(weakref.ref(task))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

        loop = self._running()
        # A task copies the context in which it is made (Python 3.10 cannot be told another one).
        loop.call_soon_threadsafe(begin, context=contextvars.copy_context())

        def end() -> None:
            for reference in tasks:
                task = reference()
                if task is not None:
                    task.cancel()

        def cancel() -> None:
            # Of a loop that is closed all tasks are cancelled already.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(end)

        return cancel

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = new_loop()
                self._loop.set_task_factory(self._make_task)
                self._thread = threading.Thread(
                    target=self._serve, args=(self._loop,), name="maloko-provider-loop", daemon=True
                )
                self._thread.start()
            return self._loop

    def _make_task(self, loop: asyncio.AbstractEventLoop, coro: Any, **options: Any) -> asyncio.Task[Any]:
        task: asyncio.Task[Any] = asyncio.Task(coro, loop=loop, **options)

        def look() -> None:
            if is_unclaimed(task):
                self._failed(task)

        def ended(_task: asyncio.Task[Any]) -> None:
            if is_unclaimed(task):
                # Whoever waits for it is woken up by now, and takes the error first.
                loop.call_soon(look)

        task.add_done_callback(ended)
        return task

    def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        # Methods may stop the loop that they run on, and a `SystemExit` in one of their tasks falls through it: the
        # calls of others go on all the same.
        while self._loop is loop and not loop.is_closed():
            with contextlib.suppress(BaseException):
                loop.run_forever()
        with contextlib.suppress(BaseException):
            end_tasks(loop, unfinished_tasks(loop), LAST_SECONDS)
            loop.run_until_complete(loop.shutdown_asyncgens())
        asyncio.set_event_loop(None)
        with contextlib.suppress(RuntimeError):
            loop.close()

    def close(self) -> None:
        """Ends the loop; what still runs on it is cancelled."""
        with self._lock:
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is not None and thread is not None:
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(loop.stop)
            thread.join(timeout=_PATIENCE_SECONDS)

    def leave_to_parent(self) -> None:
        """In a process that was forked off: lets go of the loop, whose thread and descriptors are the parent's."""
        self._lock = threading.Lock()
        loop, self._loop, self._thread = self._loop, None, None
        if loop is not None:
            leave_to_parent(loop)


def leave_to_parent(loop: asyncio.AbstractEventLoop) -> None:
    """In a process that was forked off: closes its copies of what the parent's loop is woken by.

    Otherwise the two would take each other's wakes, and the parent might wait for ever.
    """
    for name in ("_selector", "_ssock", "_csock"):
        with contextlib.suppress(Exception):
            getattr(loop, name).close()
