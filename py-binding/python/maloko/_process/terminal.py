"""The terminal, for what reads from it in the middle of a run: a debugger, `input()`, a question of a library.

While the command line runs a program, printed output is captured and the display has the terminal. Here the places are
found where somebody begins to read; for as long as that lasts the terminal is borrowed from the engine, which takes its
live view away. Off a terminal nothing is touched.
"""

from __future__ import annotations

import bdb
import builtins
import code
import contextlib
import ctypes
import functools
import getpass
import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

from maloko._maloko import borrow_terminal, give_back_terminal, lends_terminal
from maloko._process.forks import OwnProcess

_WAKE = getattr(signal, "SIGURG", None)
"""Wakes the main thread out of a system call. By itself this signal does nothing."""

_AGAIN_SECONDS = 0.05
"""After how long the main thread is woken again that has not noticed."""

_ON_TERMINAL = ("interaction", "user_line", "user_call", "user_return", "user_exception")
"""What a debugger does on the terminal: it says where it stopped and why, and reads commands."""

_HINT = "(Ctrl-C does not end what waits here: in a debugger, 'c' goes on and 'q' gives up)"


class _Loan:
    """Who has the terminal. One thread at a time: two debuggers would take the keys away from each other."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.thread: int | None = None
        self.prompt: str | None = None
        """What `input` asks just now."""
        self.is_interrupted = False
        """Has the main thread to stop reading?"""
        self.process = OwnProcess()


_loan = _Loan()


def is_borrowed_here() -> bool:
    """Does this thread have the terminal?"""
    return _loan.thread == threading.get_ident() and _loan.process.is_here()


@contextlib.contextmanager
def borrowed(*, debugger: bool = False) -> Iterator[None]:
    """Gives the terminal to this thread, where there is one; others wait for their turn."""
    if not _loan.process.is_here() or not lends_terminal():
        yield
        return
    with _loan.lock:
        outer = _loan.thread
        flush_streams()
        if not borrow_terminal(debugger):
            yield
            return
        _loan.thread = threading.get_ident()
        try:
            _show_begun()
            yield
        finally:
            flush_streams()
            _loan.thread = outer
            give_back_terminal(debugger)


def flush_streams() -> None:
    """Has what was printed leave this process."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # a program may have taken it away
            getattr(stream, "under", stream).flush()


def _show_begun() -> None:
    """Writes the lines that were begun, such as a question, where they can be read now."""
    for stream in (sys.stdout, sys.stderr):
        show_begun = getattr(stream, "show_begun", None)
        if show_begun is not None:
            show_begun()


def interrupted() -> None:
    """Ctrl-C belongs to the debugger that has the terminal; called on another thread."""
    thread, prompt = _loan.thread, _loan.prompt
    if thread is None:
        return
    if thread == threading.main_thread().ident:
        _wake_main_thread()
    elif prompt is None:
        # A command of the debugger is at work, in Python code sooner or later.
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt))
    else:
        # Nothing reaches a thread that reads, other than the main one.
        os.write(1, f"\n{_HINT}\n{prompt}{_typed()}".encode())


def give_up_reading() -> None:
    """The run was cancelled: the main thread does not wait for an answer any longer."""
    if _loan.prompt is not None and _loan.thread == threading.main_thread().ident:
        _wake_main_thread()


def _wake_main_thread() -> None:
    _loan.is_interrupted = True
    threading.Thread(target=_wake_until_noticed, name="maloko-interrupt", daemon=True).start()


def _wake_until_noticed() -> None:
    """A signal that comes just before the main thread begins to read does not end that read: it is sent again."""
    main = threading.main_thread().ident
    pause = threading.Event()
    while _WAKE is not None and main is not None and _loan.is_interrupted and _loan.thread == main:
        signal.pthread_kill(main, _WAKE)
        pause.wait(_AGAIN_SECONDS)
    _loan.is_interrupted = False


def _typed() -> str:
    readline = sys.modules.get("readline")
    return readline.get_line_buffer() if readline is not None else ""


def _put_back_signal(number: int, handler: Any) -> None:
    with contextlib.suppress(ValueError):  # not on the main thread: the process ends
        signal.signal(number, handler)


def _woken(_number: int, _frame: object) -> None:
    if _loan.is_interrupted and _loan.thread == threading.main_thread().ident:
        _loan.is_interrupted = False
        raise KeyboardInterrupt


class _TerminalInput(io.FileIO):
    """Standard input: each read has the terminal, and ends when there is something to read."""

    def __init__(self) -> None:
        super().__init__(0, "r", closefd=False)
        self.name = "<stdin>"

    def readinto(self, buffer: Any) -> int | None:
        with borrowed():
            return super().readinto(buffer)

    def read(self, size: int | None = -1) -> Any:
        with borrowed():
            return super().read(-1 if size is None else size)

    def readall(self) -> Any:
        with borrowed():
            return super().readall()


def _borrowing(original: Callable[..., Any], *, debugger: bool = False) -> Callable[..., Any]:
    @functools.wraps(original)
    def has_terminal(*args: Any, **kwargs: Any) -> Any:
        with borrowed(debugger=debugger):
            return original(*args, **kwargs)

    has_terminal.maloko = original  # type: ignore[attr-defined]
    return has_terminal


def _asking(original: Callable[..., str]) -> Callable[..., str]:
    @functools.wraps(original)
    def ask(prompt: object = "", /) -> str:
        with borrowed():
            if not is_borrowed_here():
                return original(prompt)
            _loan.prompt = str(prompt)
            try:
                return original(prompt)
            finally:
                _loan.prompt = None

    return ask


def _serve_debugger(kind: type) -> None:
    """Has a class of debuggers interact on the terminal. What looks at its streams when it is made sees a terminal."""
    own = vars(kind)
    for name in _ON_TERMINAL if kind.__module__ == "pdb" else (*_ON_TERMINAL, "__init__"):
        method = own.get(name)
        if callable(method) and not hasattr(method, "maloko"):
            setattr(kind, name, _borrowing(method, debugger=True))


def _debuggers(kind: type[Any] = bdb.Bdb) -> Iterator[type[Any]]:
    for heir in list(kind.__subclasses__()):
        yield heir
        yield from _debuggers(heir)


def _leave_debuggers() -> None:
    for kind in _debuggers():
        for name in (*_ON_TERMINAL, "__init__"):
            original = getattr(vars(kind).get(name), "maloko", None)
            if original is not None:
                setattr(kind, name, original)


def _serve_later_debuggers() -> Callable[[], None]:
    def begin(kind: Any, /, **kwargs: Any) -> None:
        super(bdb.Bdb, kind).__init_subclass__(**kwargs)
        _serve_debugger(kind)

    bdb.Bdb.__init_subclass__ = classmethod(begin)  # type: ignore[assignment, method-assign]

    def end() -> None:
        with contextlib.suppress(AttributeError):
            del bdb.Bdb.__init_subclass__

    return end


@contextlib.contextmanager
def lent_to_readers() -> Iterator[None]:
    """Until it ends, whatever reads from the terminal has it. On the main thread."""
    if not lends_terminal():
        yield
        return
    with contextlib.ExitStack() as stack:

        def replace(owner: Any, name: str, new: Any) -> None:
            old = getattr(owner, name)
            setattr(owner, name, new)

            def put_back() -> None:
                # A program that put its own there keeps it.
                if getattr(owner, name, None) is new:
                    setattr(owner, name, old)

            stack.callback(put_back)

        replace(builtins, "input", _asking(builtins.input))
        replace(getpass, "getpass", _borrowing(getpass.getpass))
        replace(code.InteractiveConsole, "interact", _borrowing(code.InteractiveConsole.interact, debugger=True))
        if isinstance(sys.stdin, io.TextIOWrapper) and sys.stdin.fileno() == 0:
            old = sys.stdin
            buffer = io.BufferedReader(_TerminalInput())
            replace(sys, "stdin", io.TextIOWrapper(buffer, old.encoding, old.errors, line_buffering=old.line_buffering))
        stack.callback(_serve_later_debuggers())
        for kind in _debuggers():
            _serve_debugger(kind)
        stack.callback(_leave_debuggers)
        if _WAKE is not None and threading.current_thread() is threading.main_thread():
            stack.callback(_put_back_signal, _WAKE, signal.signal(_WAKE, _woken))
        yield
