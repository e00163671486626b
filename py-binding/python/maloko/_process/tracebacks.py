"""Errors as users want to read them: their own frames, not those of the SDK, of asyncio or ours."""

from __future__ import annotations

import asyncio
import builtins
import contextlib
import importlib.util
import os
import threading
import traceback
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import TypeGuard

from maloko._process.syntax import asked_again


def _machinery() -> tuple[str, ...]:
    directories = [
        Path(__file__).parent.parent,
        Path(asyncio.__file__).parent,
        Path(threading.__file__).parent / "concurrent",
    ]
    return (*(f"{directory}{os.sep}" for directory in directories), threading.__file__, "<frozen ")


def _sdk() -> tuple[str, ...]:
    pulumi = importlib.util.find_spec("pulumi")
    return () if pulumi is None or pulumi.origin is None else (f"{Path(pulumi.origin).parent}{os.sep}",)


_CONFIG_MISSING = ("pulumi.config", "ConfigMissingError")
_always_hidden = _machinery()
_hidden: tuple[str, ...] | None = None

_MADE_AT = "_maloko_made_at"
"""The member of an error that has the line which led to it."""
_MAX_CAUSES = 10
_CAUSES_IN_A_LINE = 3


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
        return as_text(with_own_command("\n".join(lines), error))
    except BaseException:  # the exception is a user's object
        return f"{type(error).__name__} (it cannot be shown: its text raises)"


def message_with_causes(error: BaseException) -> str:
    """The same, with what caused it (`raise ... from`, the members of an exception group): three at most."""
    text = message_of(error)
    try:
        # Whole texts: the engine finds a secret only where all of it is there.
        causes = [cause for cause in _causes(error, set()) if not (str(cause) and as_text(str(cause)) in text)]
        told = list(dict.fromkeys(message_of(cause) for cause in causes))[:_CAUSES_IN_A_LINE]
        return f"{text} (caused by {'; '.join(told)})" if told else text
    except BaseException:  # the exception is a user's object
        return text


def _causes(error: BaseException, seen: set[int]) -> Iterator[BaseException]:
    if id(error) in seen or len(seen) >= _MAX_CAUSES:
        return
    seen.add(id(error))
    # Groups exist from Python 3.11 on.
    group = getattr(builtins, "BaseExceptionGroup", None)
    members = error.exceptions if group is not None and isinstance(error, group) else ()
    for cause in (error.__cause__, *members):
        if cause is not None and id(cause) not in seen:
            yield cause
            yield from _causes(cause, seen)


def format_error(error: BaseException) -> str:
    """The traceback with the user's frames only, the exceptions behind it, and those of an exception group.

    Where no frame is the user's, those of the SDK are left. Never raises.
    """
    try:
        return as_text(with_own_command(_formatted(error), error))
    except BaseException:  # the exception is a user's object
        return ""


def format_program_error(error: BaseException) -> str:
    """What ended a program: what is wrong and where, and below it the frames; of a syntax error the line, and who
    imported it."""
    formatted = format_error(error)
    try:
        lines = message_of(error).splitlines() or [type(error).__name__]
        if _has_place(error):
            lines += _excerpt(error)
        else:
            place = _place_of(error)
            lines[0] += f" ({place})" if place else ""
        frames = asked_again(lambda: _frames_of(error))
        return "\n".join([*lines, as_text(with_own_command(frames, error))]).rstrip()
    except BaseException:  # the exception is a user's object
        return formatted


def _frames_of(error: BaseException) -> str:
    """A traceback without the error at its end; with all of the exceptions behind it."""
    own = _own_frames_of(error)
    if getattr(own, "exceptions", None):
        return "".join(own.format())
    if own.__cause__ is None and own.__context__ is None:
        heading = "" if _has_place(error) or not own.stack else "Traceback (most recent call last):\n"
        return heading + "".join(own.stack.format())
    return "".join(own.format()).removesuffix("".join(own.format_exception_only()))


def _place_of(error: BaseException) -> str:
    """The innermost line of the user's own code, or of a library's where no frame is the user's."""
    frames = [frame for frame in reversed(_own_frames_of(error).stack) if not frame.filename.startswith("<")]
    frames = [frame for frame in frames if not is_hidden(frame.filename)]
    own = (frame for frame in frames if not _is_library(frame.filename))
    found = next(own, frames[0] if frames else None)
    return "" if found is None else f"{found.filename}:{found.lineno}"


def _is_library(filename: str) -> bool:
    """Is it a file of the standard library, or of an installed package?"""
    standard = f"{Path(os.__file__).parent}{os.sep}"
    return filename.startswith(standard) or not {"site-packages", "dist-packages"}.isdisjoint(Path(filename).parts)


def _has_place(error: BaseException) -> TypeGuard[SyntaxError]:
    return isinstance(error, SyntaxError) and bool(error.msg and error.filename)


def _excerpt(error: SyntaxError) -> list[str]:
    """The line that is wrong, and a sign below it, as they stand in a traceback."""
    lines = "".join(traceback.format_exception_only(type(error), error)).splitlines()[1:]
    return list(takewhile(lambda line: line.startswith("    "), lines))


def with_own_command(text: str, error: BaseException) -> str:
    """A text about an exception, in which the SDK's advice on missing configuration names the command of maloko."""
    for missing in _chain(error):
        if any((kind.__module__, kind.__name__) == _CONFIG_MISSING for kind in type(missing).__mro__):
            said = str(missing)
            text = text.replace(said, said.replace("`pulumi config set ", "`maloko config set "))
    return text


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The exception, and those behind it."""
    waiting: list[BaseException | None] = [error]
    seen: set[int] = set()
    while waiting:
        found = waiting.pop()
        if found is not None and id(found) not in seen:
            seen.add(id(found))
            yield found
            waiting += [found.__cause__, found.__context__]


def as_text(text: str) -> str:
    """A text that every file can hold: half of a surrogate pair becomes a question mark."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _formatted(error: BaseException) -> str:
    text = asked_again(lambda: "".join(_own_frames_of(error).format())).rstrip()
    return _with_place(text, error) if isinstance(error, SyntaxError) else text


def note_made_at(error: BaseException, place: traceback.FrameSummary) -> None:
    """Has an error, in whose traceback no line of the user's is, begin at the one that led to it."""
    # Some exceptions take no attributes: of these the line stays unknown.
    with contextlib.suppress(BaseException):
        if getattr(error, _MADE_AT, None) is None:
            setattr(error, _MADE_AT, place)


def _own_frames_of(error: BaseException) -> traceback.TracebackException:
    formatted = traceback.TracebackException.from_exception(error)
    _begin_where_made(formatted, error)
    parts = list(_parts(formatted, set()))
    has_own = any(_is_own(part) for part in parts)
    for part in parts:
        frames = (frame for frame in part.stack if not frame.filename.startswith(_always_hidden))
        kept = [frame for frame in frames if not (has_own and is_hidden(frame.filename))]
        part.stack = traceback.StackSummary.from_list(kept)
    return formatted


def _begin_where_made(formatted: traceback.TracebackException, error: BaseException) -> None:
    """Puts the lines that led to errors before their frames."""
    part: traceback.TracebackException | None = formatted
    for it in _causes_of(error):
        if part is None:
            return
        made_at = getattr(it, _MADE_AT, None)
        if isinstance(made_at, traceback.FrameSummary):
            part.stack = traceback.StackSummary.from_list([made_at, *part.stack])
        part = part.__cause__


def _causes_of(error: BaseException) -> Iterator[BaseException]:
    """The exception, and those that it was raised from."""
    found: BaseException | None = error
    for _ in range(_MAX_CAUSES):
        if found is None:
            return
        yield found
        found = found.__cause__


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
