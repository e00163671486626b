"""Handlers that a program sets for Ctrl-C, SIGTERM and SIGHUP while the command line runs it.

The engine deals with these signals itself, without the interpreter, which a provider may be keeping busy. A program's
handler does not take its place: it is called beside it, when the run is cancelled. Forked processes are on their own.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio

_THEIRS = {signal.SIGINT, signal.SIGTERM}

_own: dict[int, Any] = {}
"""The program's handlers."""


def leave_to_engine() -> None:
    """From now on the engine's handlers stay, whatever the program sets. For the process of a command line."""
    if hasattr(signal.signal, "maloko"):
        return
    set_handler, get_handler, process = signal.signal, signal.getsignal, os.getpid()
    # Under `nohup` the engine leaves the end of the terminal alone.
    if get_handler(signal.SIGHUP) != signal.SIG_IGN:
        _THEIRS.add(signal.SIGHUP)

    def is_ours(number: int) -> bool:
        return number in _THEIRS and os.getpid() == process

    def set_own(signalnum: int, handler: Any) -> Any:
        if not is_ours(signalnum) or threading.current_thread() is not threading.main_thread():
            # On another thread this is an error, as ever.
            return set_handler(signalnum, handler)
        previous = get_own(signalnum)
        # A debugger that goes on would be opened by the Ctrl-C that cancels the run. If there is one, `bdb` is loaded.
        debugger = getattr(sys.modules.get("bdb"), "Bdb", ())
        if not isinstance(getattr(handler, "__self__", None), debugger):
            _own[signalnum] = handler
        return previous

    def get_own(signalnum: int) -> Any:
        return _own.get(signalnum, signal.SIG_DFL) if is_ours(signalnum) else get_handler(signalnum)

    def take_back() -> None:
        signal.signal, signal.getsignal = set_handler, get_handler
        set_handler(signal.SIGINT, signal.default_int_handler)

    set_own.maloko = take_back  # type: ignore[attr-defined]
    signal.signal = set_own
    signal.getsignal = get_own


def take_back() -> None:
    """Undoes `leave_to_engine`: Python's handlers are in force again, and Ctrl-C raises `KeyboardInterrupt`.

    For the main thread, where the engine has set no handlers of its own.
    """
    undo = getattr(signal.signal, "maloko", None)
    if undo is not None:
        undo()


def call_own_handler(loop: asyncio.AbstractEventLoop, number: int) -> None:
    """Has the program's handler called on its event loop's thread, which is the main one."""
    handler = _own.get(number)
    with contextlib.suppress(RuntimeError):  # the loop is closed: the program is over
        if number in getattr(loop, "_signal_handlers", {}):
            loop.call_soon_threadsafe(loop._handle_signal, number)  # type: ignore[attr-defined]
        elif callable(handler):
            loop.call_soon_threadsafe(handler, number, None)
