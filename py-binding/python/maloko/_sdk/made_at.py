"""Errors in Outputs that the SDK computes itself (`Output.format` and its like): they name the line that called it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from traceback import FrameSummary
from typing import Any

from maloko._process.tracebacks import is_hidden, note_made_at

NAMES = ("concat", "format", "json_dumps", "json_loads")
"""The functions of `pulumi.Output` in which nothing of the user's is called."""


def naming_the_line(original: Callable[..., Any]) -> Callable[..., Any]:
    """A function that makes an Output; an error in it is of the line that called."""

    def make(*args: Any, **kwargs: Any) -> Any:
        made = original(*args, **kwargs)
        # Older SDKs keep the value by itself.
        state = next(
            (it for name in ("_data", "_future") if isinstance(it := vars(made).get(name), asyncio.Future)), None
        )
        if state is not None:
            place = _caller()

            def note(done: asyncio.Future[Any]) -> None:
                error = None if done.cancelled() else done.exception()
                if error is not None and place is not None:
                    note_made_at(error, place)

            state.add_done_callback(note)
        return made

    return make


def _caller() -> FrameSummary | None:
    """The nearest line that is not the machinery's."""
    frame = sys._getframe(1)
    while frame is not None and is_hidden(frame.f_code.co_filename):
        frame = frame.f_back  # type: ignore[assignment]
    return None if frame is None else FrameSummary(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
