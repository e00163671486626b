"""One event loop for the clients of this process, on a thread of its own: they are used from threads and coroutines."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

R = TypeVar("R")

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def waited_for(work: Coroutine[Any, Any, R]) -> R:
    """Does it on the clients' loop, and waits. Ctrl-C ends the waiting, and cancels the work."""
    future = asyncio.run_coroutine_threadsafe(work, _running())
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


async def awaited(work: Coroutine[Any, Any, R]) -> R:
    """Does it on the clients' loop, for a coroutine of another one."""
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, _running()))


def _running() -> asyncio.AbstractEventLoop:
    global _loop
    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="maloko-fleet", daemon=True).start()
        return _loop
