"""Event loops that we make ourselves: plain selector loops, whatever policy is installed (others break the SDK)."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
import weakref
from collections.abc import Awaitable, Callable
from typing import Any


def new_loop() -> asyncio.SelectorEventLoop:
    """A plain event loop."""
    return asyncio.SelectorEventLoop()


class ProviderLoop:
    """The one loop of a run on which `async def` provider methods are awaited.

    It lives as long as the run, so that a client made in `configure` is valid in `create`.
    """

    def __init__(self) -> None:
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
        """Awaits on the loop, in a copy of the current context, and calls `done` there with what came of it.

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
                self._thread = threading.Thread(
                    target=self._serve, args=(self._loop,), name="maloko-provider-loop", daemon=True
                )
                self._thread.start()
            return self._loop

    @staticmethod
    def _serve(loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
        finally:
            tasks = asyncio.all_tasks(loop)
            for task in tasks:
                task.cancel()
            loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            loop.run_until_complete(loop.shutdown_asyncgens())
            asyncio.set_event_loop(None)
            loop.close()

    def close(self) -> None:
        """Ends the loop; what still runs on it is cancelled."""
        with self._lock:
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join(timeout=5)
