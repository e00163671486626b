"""Outputs that provider methods make and return: `pulumi.Output.secret` marks what is to be kept secret.

The SDK makes every Output a task of an event loop, and has the program wait for it. A synchronous method has no loop,
and the program's loop is not the one on which an `async def` method runs: so what a method makes is kept apart from the
program's Outputs, and settled when the method has ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from asyncio import wait as wait_for_tasks  # kept: a program may take it away
from collections.abc import Callable
from typing import Any

from maloko._current import CURRENT_CALL
from maloko._process.event_loops import LAST_SECONDS, end_tasks, new_loop, unfinished_tasks

_PATIENCE_SECONDS = 10.0
"""How long a method's own Outputs are waited for. They are made of what is there, so hardly ever at all."""

_own: contextvars.ContextVar[set[asyncio.Future[Any]] | None] = contextvars.ContextVar("maloko_outputs", default=None)
_thread = threading.local()


def made_in_call(original: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the SDK that makes an Output, fit for provider methods."""

    def make(*args: Any, **kwargs: Any) -> Any:
        if CURRENT_CALL.get() is not None:
            _prepare()
        return original(*args, **kwargs)

    return make


def _prepare() -> None:
    if _own.get() is None:
        own: set[asyncio.Future[Any]] = set()
        _own.set(own)
        from pulumi.runtime.settings import SETTINGS

        SETTINGS.outputs = own
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        loop = getattr(_thread, "loop", None)
        if loop is None:
            loop = _thread.loop = new_loop()
        asyncio.set_event_loop(loop)


def settle() -> None:
    """Settles the Outputs that a synchronous method has made on this thread."""
    loop, own = getattr(_thread, "loop", None), _own.get()
    if own and loop is not None:
        loop.run_until_complete(_settled(own, loop))


async def settle_async() -> None:
    """Settles the Outputs that an `async def` method has made."""
    own = _own.get()
    if own:
        await _settled(own, asyncio.get_running_loop())


async def _settled(own: set[asyncio.Future[Any]], loop: asyncio.AbstractEventLoop) -> None:
    # What was made on another loop has to be there already.
    while waiting := [future for future in list(own) if future.get_loop() is loop and not future.done()]:
        done, _ = await wait_for_tasks(waiting, timeout=_PATIENCE_SECONDS)
        if not done:
            return


def close_loop() -> None:
    """Ends the loop of this thread, if there is one."""
    loop = getattr(_thread, "loop", None)
    if loop is not None:
        _thread.loop = None
        asyncio.set_event_loop(None)
        with contextlib.suppress(RuntimeError):
            # Nobody waits for them: what they raise now is nobody's concern.
            loop.set_exception_handler(lambda _loop, _context: None)
            end_tasks(loop, unfinished_tasks(loop), LAST_SECONDS)
            loop.close()


def resolved(output: Any) -> tuple[bool, bool, Any] | None:
    """Is the Output known, is it secret, and its value; `None` while it is not resolved. Raises what it failed with."""
    # Asking an Output for an attribute that it lacks makes a new Output.
    own = vars(output)
    if "_data" in own:
        if not own["_data"].done():
            return None
        data = own["_data"].result()
        return data.is_known, data.is_secret, data.value
    futures = [own[name] for name in ("_is_known", "_is_secret", "_future")]
    if not all(future.done() for future in futures):
        return None
    known, secret, value = (future.result() for future in futures)
    return known, secret, value
