"""Errors as users want to read them: their own frames, not those of the SDK, of asyncio or ours."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import threading
import traceback
from pathlib import Path
from types import TracebackType


def _hidden_places() -> tuple[str, ...]:
    directories = [Path(__file__).parent, Path(asyncio.__file__).parent, Path(threading.__file__).parent / "concurrent"]
    pulumi = importlib.util.find_spec("pulumi")
    if pulumi is not None and pulumi.origin is not None:
        directories.append(Path(pulumi.origin).parent)
    return (*(f"{directory}{os.sep}" for directory in directories), threading.__file__, "<frozen ")


_hidden: tuple[str, ...] | None = None


def is_hidden(filename: str) -> bool:
    """Is the file part of the machinery?"""
    global _hidden
    if _hidden is None:
        _hidden = _hidden_places()
    return filename.startswith(_hidden)


def message_of(error: BaseException) -> str:
    """The last line of a traceback, without the traceback: `ValueError: no such label`."""
    return "".join(traceback.format_exception_only(type(error), error)).strip()


def format_error(error: BaseException) -> str:
    """The traceback with the user's frames only (all frames when none is the user's), and the exceptions behind it."""
    formatted = traceback.TracebackException.from_exception(error)
    _trim(formatted, set())
    return "".join(formatted.format()).rstrip()


def _trim(formatted: traceback.TracebackException, seen: set[int]) -> None:
    if id(formatted) in seen:
        return
    seen.add(id(formatted))
    kept = [frame for frame in formatted.stack if not is_hidden(frame.filename)]
    if kept:
        formatted.stack = traceback.StackSummary.from_list(kept)
    for other in (formatted.__cause__, formatted.__context__):
        if other is not None:
            _trim(other, seen)


def user_frames(tb: TracebackType | None) -> list[str]:
    """`file:line` of the user's frames, outermost first."""
    return [f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(tb) if not is_hidden(frame.filename)]
