"""Documents for the texts that Rust makes, so that both languages show the same."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from typing import Any

from maloko._maloko import fleet_text
from maloko.fleet._ends import End
from maloko.fleet._progress import Progress, StackProgress
from maloko.fleet._run import Result
from maloko.fleet._wire import Plan

_SHOWN = 10
_SAY = ("text", "note")
"""Members of documents that may say of which resource a stack failed."""
_URN = re.compile(r"urn:pulumi:[^:\s]+::[^:\s]+::\S*?([^:\s$]+)::")
"""A resource's URN as far as its name; the group is the last part of its type."""


def shown(kind: str, document: dict[str, Any], columns: int | None) -> str:
    """The text for a document, in lines that a terminal has room for."""
    return fleet_text(kind, json.dumps(_readable(document)), columns or 0).rstrip("\n")


def _readable(document: dict[str, Any]) -> dict[str, Any]:
    """The document with short names of resources in what failures say."""
    rows: dict[str, Any] = {
        name: [{key: short_urns(it) if key in _SAY else it for key, it in row.items()} for row in document[name]]
        for name in ("stacks", "failures", "ends")
        if name in document
    }
    return {**document, **rows}


def short_urns(text: str | None) -> str | None:
    """A text in which resources have type and name in place of their whole URN."""
    return text and _URN.sub(r"\1 ", text)


def progress_document(progress: Progress) -> dict[str, Any]:
    """A run's progress, as it is shown and as `--json` prints it."""
    return {
        "run": progress.run,
        "verb": progress.verb,
        "wave": progress.wave,
        "waves": progress.waves,
        "state": progress.state,
        "stopped": progress.stopped,
        "counts": progress.counts,
        "seconds": round(progress.seconds, 1),
        "perMinute": None if progress.per_minute is None else round(progress.per_minute, 1),
        "remaining": None if progress.remaining is None else round(progress.remaining, 1),
        "stacks": [row_of(stack) for stack in progress.at_work[:_SHOWN]],
        "failures": [
            {
                "id": end.stack,
                "outcome": end.outcome,
                "text": f"{end.reason}: {end.text}" if end.outcome == "failed" else end.text,
                "attempts": end.attempts,
            }
            for end in progress.failures
        ],
    }


def row_of(stack: StackProgress) -> dict[str, Any]:
    """A stack that is worked on, or waits to be, as it is shown."""
    if not stack.is_running:
        waits = f"waits {stack.waits:.0f} s" if stack.waits >= 1 else "waits"
        text = f"{waits}: {stack.failure}" if stack.failure else "waits for a worker"
    elif stack.total:
        text = f"{stack.done or 0} of {stack.total} resources"
    else:
        text = "at work"
    note = f"before: {stack.failure}" if stack.failure and stack.is_running else None
    if stack.max_attempts is not None:
        note = f"of {stack.max_attempts}"
    if stack.others:
        note = f"{stack.others} more after it"
    return {"id": stack.stack, "text": text, "worker": stack.worker or None, "attempt": stack.attempt, "note": note}


def result_document(result: Result) -> dict[str, Any]:
    """A run's result, as it is shown and as `--json` prints it."""
    return {
        "run": result.run,
        "fleet": result.fleet,
        "verb": result.verb,
        "outcome": result.outcome,
        "stopped": result.stopped,
        "seconds": result.seconds,
        "counts": result.counts,
        "ends": [end.wire() for end in result.ends],
    }


def stacks_in_words(plan: Plan) -> str:
    """How many stacks a plan has."""
    number = len(plan["stacks"])
    return "1 stack" if number == 1 else f"{number} stacks"


def tell_caller(text: str) -> None:
    """Writes what the command was asked for. Where nobody reads on, as after `head`, the rest is left out."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        # What Python has still to write when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(text: str) -> None:
    """Writes a line for people, apart from what the command was asked for."""
    # Whose terminal is closed reads nothing more, and what the command does has to end in order all the same.
    with contextlib.suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def line_of(end: End) -> str:
    """A stack that did not succeed, in a line."""
    return f"{end.outcome} {end.stack}: {short_urns(end.text)}" if end.text else f"{end.outcome} {end.stack}"
