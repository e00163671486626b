"""Errors as users want to read them: their own frames, not those of the SDK, of asyncio or ours."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import threading
import traceback
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import TypeGuard


def _machinery() -> tuple[str, ...]:
    directories = [Path(__file__).parent, Path(asyncio.__file__).parent, Path(threading.__file__).parent / "concurrent"]
    return (*(f"{directory}{os.sep}" for directory in directories), threading.__file__, "<frozen ")


def _sdk() -> tuple[str, ...]:
    pulumi = importlib.util.find_spec("pulumi")
    return () if pulumi is None or pulumi.origin is None else (f"{Path(pulumi.origin).parent}{os.sep}",)


_always_hidden = _machinery()
_hidden: tuple[str, ...] | None = None


def is_hidden(filename: str) -> bool:
    """Is the file part of the machinery?"""
    global _hidden
    if _hidden is None:
        _hidden = (*_always_hidden, *_sdk())
    return filename.startswith(_hidden)


def message_of(error: BaseException) -> str:
    """The last line of a traceback without the traceback: `ValueError: no such label`; a syntax error with its place.

    Never raises, whatever the exception does when it is looked at.
    """
    try:
        lines = "".join(traceback.format_exception_only(type(error), error)).strip().splitlines()
        if _has_place(error):
            # The file, the line and a sign below it come first.
            lines = lines[1 + len(_excerpt(error)) :]
            lines[0] += f" ({error.filename}:{error.lineno})"
        return as_text("\n".join(lines))
    except BaseException:  # the exception is a user's object
        return f"{type(error).__name__} (it cannot be shown: its text raises)"


def format_error(error: BaseException) -> str:
    """The traceback with the user's frames only, the exceptions behind it, and those of an exception group.

    Where no frame is the user's, those of the SDK are left. Never raises.
    """
    try:
        return as_text(_formatted(error))
    except BaseException:  # the exception is a user's object
        return ""


def format_program_error(error: BaseException) -> str:
    """What ended a program: its traceback; of a syntax error what is wrong and where, the line, and who imported it."""
    formatted = format_error(error)
    try:
        if not _has_place(error) or error.__cause__ is not None or error.__context__ is not None:
            return formatted
        frames = as_text("".join(_own_frames_of(error).stack.format()).rstrip())
        return "\n".join([message_of(error), *_excerpt(error), frames]).rstrip()
    except BaseException:  # the exception is a user's object
        return formatted


def _has_place(error: BaseException) -> TypeGuard[SyntaxError]:
    return isinstance(error, SyntaxError) and bool(error.msg and error.filename)


def _excerpt(error: SyntaxError) -> list[str]:
    """The line that is wrong, and a sign below it, as they stand in a traceback."""
    lines = "".join(traceback.format_exception_only(type(error), error)).splitlines()[1:]
    return list(takewhile(lambda line: line.startswith("    "), lines))


def as_text(text: str) -> str:
    """A text that every file can hold: half of a surrogate pair becomes a question mark."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _formatted(error: BaseException) -> str:
    text = "".join(_own_frames_of(error).format()).rstrip()
    return _with_place(text, error) if isinstance(error, SyntaxError) else text


def _own_frames_of(error: BaseException) -> traceback.TracebackException:
    formatted = traceback.TracebackException.from_exception(error)
    parts = list(_parts(formatted, set()))
    has_own = any(_is_own(part) for part in parts)
    for part in parts:
        frames = (frame for frame in part.stack if not frame.filename.startswith(_always_hidden))
        kept = [frame for frame in frames if not (has_own and is_hidden(frame.filename))]
        part.stack = traceback.StackSummary.from_list(kept)
    return formatted


def _with_place(text: str, error: SyntaxError) -> str:
    """The last line of a syntax error's traceback with the place, for where only that line is shown."""
    lines = text.splitlines()
    if not lines or error.msg is None or not lines[-1].endswith(error.msg) or not error.filename:
        return text
    lines[-1] += f" ({error.filename}:{error.lineno})"
    # Without a frame of the user's the text would begin with the place, which says less than the error.
    heading = [] if lines[0].startswith("Traceback") else ["Traceback (most recent call last):"]
    return "\n".join([*heading, *lines])


def _is_own(part: traceback.TracebackException) -> bool:
    # A syntax error has its place in itself.
    place = getattr(part, "filename", None)
    return any(not is_hidden(frame.filename) for frame in part.stack) or bool(place and not is_hidden(place))


def _parts(formatted: traceback.TracebackException, seen: set[int]) -> Iterator[traceback.TracebackException]:
    if id(formatted) in seen:
        return
    seen.add(id(formatted))
    yield formatted
    # Groups exist from Python 3.11 on.
    members: list[traceback.TracebackException] = getattr(formatted, "exceptions", None) or []
    for other in (formatted.__cause__, formatted.__context__, *members):
        if other is not None:
            yield from _parts(other, seen)
