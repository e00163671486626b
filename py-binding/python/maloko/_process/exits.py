"""Ends of a command line's process that go past the engine.

`os._exit` in a provider's method or in the program ends the process in the middle of a run: nobody is left to give a
summary, and its exit code says nothing of the run. It is told, and never counts as success. Forked processes end as
they like.
"""

from __future__ import annotations

import contextlib
import operator
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, NoReturn

from maloko._current import CURRENT_CALL
from maloko._errors import MalokoError
from maloko._process.forks import OwnProcess

_FAILED = 1
"""The exit code of a run in which something failed."""


class DirectEnds:
    """Stands before the functions that end the process or put another program in its place, while a run goes on."""

    def __init__(self) -> None:
        self._process = OwnProcess()
        self._preview = False
        self._replaced: list[tuple[ModuleType, str, Any, Any]] = []
        self._stderr = 2
        with contextlib.suppress(OSError):
            # During a run the descriptor itself is a pipe to the display, which ends with the process.
            self._stderr = os.dup(2)

    def begin(self, *, preview: bool) -> None:
        """Called before code of the user runs."""
        self._preview = preview
        if not self._replaced:
            for name, replacement in (("_exit", self._ending), ("execv", _refused), ("execve", _refused)):
                # `os` has them from the module of its own name.
                for module in (os, sys.modules[os.name]):
                    original = getattr(module, name)
                    function = self._in_place_of(original, replacement)
                    self._replaced.append((module, name, original, function))
                    setattr(module, name, function)

    def over(self) -> None:
        """Puts the functions back. Whoever has put something over them keeps that, and ours let everything pass."""
        replaced, self._replaced = self._replaced, []
        for module, name, original, function in replaced:
            if getattr(module, name) is function:
                setattr(module, name, original)
        if self._stderr != 2:
            os.close(self._stderr)
            self._stderr = 2

    def _in_place_of(self, original: Callable[..., Any], replacement: Callable[..., Any]) -> Callable[..., Any]:
        def function(*args: Any, **kwargs: Any) -> Any:
            if self._replaced and self._process.is_here():
                return replacement(original, *args, **kwargs)
            return original(*args, **kwargs)

        return function

    def _ending(self, end: Callable[[int], NoReturn], status: int) -> NoReturn:
        code = operator.index(status)
        with contextlib.suppress(OSError):
            # A tree of resources may leave the cursor in the middle of a line.
            begin = "\n" if os.isatty(self._stderr) else ""
            os.write(self._stderr, f"{begin}error: {self._text(code)}\n".encode())
        end(code if code & 0xFF else _FAILED)

    def _text(self, code: int) -> str:
        call = CURRENT_CALL.get()
        who = "the program" if call is None else f"{call.method} of '{call.urn.rpartition('::')[2]}'"
        ended = f"{who} ended the process with os._exit({code}), and with it the run, which has no result"
        if self._preview:
            return f"{ended}; nothing was changed. Correct that, and run the same command again"
        return (
            f"{ended}; what was done and what was in flight is in the journal. Run the same command again: it names "
            "what was in flight, and takes up from the journal"
        )


def _refused(_original: Callable[..., Any], path: Any, *_: Any, **__: Any) -> NoReturn:
    raise MalokoError(
        f"another program ({path}) would take the place of the process, and so of the whole run: start it with "
        "subprocess"
    )
