"""Watching a run: once, or until it ends."""

from __future__ import annotations

import contextlib
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator

from maloko.fleet._commands.find import order_of, run_of
from maloko.fleet._commands.pollers import missing_programs
from maloko.fleet._commands.request import Request
from maloko.fleet._commands.texts import line_of, progress_document, result_document, say, shown, tell_caller
from maloko.fleet._ends import NoAnswerError
from maloko.fleet._loop import waited_for
from maloko.fleet._run import Result, Run

_LOOK_SECONDS = 1.0
_LINE_SECONDS = 10.0
"""Between two lines where there is no terminal that can be drawn on."""
_SILENT_SECONDS = 2.0
"""After so long somebody who asked is told that there is no answer yet."""
_CODES = {"done": 0, "failed": 1, "cancelled": 8}
"""Exit codes by how a run ended."""


def status(asked: Request) -> int:
    """`fleet status`: where the run stands now."""
    run = run_of(asked)
    with _said_after(_SILENT_SECONDS, f"waiting for an answer of run {run.id}"):
        progress = run.progress()
    document = progress_document(progress)
    tell_caller(json.dumps(document) if asked.get("json") else shown("progress", document, asked.get("columns")))
    if any(not stack.is_running and not stack.failure for stack in progress.at_work):
        for message in waited_for(_missing(run)):
            say(f"warning: {message}")
    return 0


async def _missing(run: Run) -> list[str]:
    return await missing_programs(run._client, (await order_of(run))["plan"])


@contextlib.contextmanager
def _said_after(seconds: float, text: str) -> Iterator[None]:
    """Says a line where what is done takes longer."""
    timer = threading.Timer(seconds, say, [text])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def watch(asked: Request) -> int:
    """`fleet watch`: until the run has ended."""
    run = run_of(asked)
    try:
        result = follow(run, asked)
    except KeyboardInterrupt:
        say_it_goes_on(run)
        return 0
    return tell(result, asked)


def say_it_goes_on(run: Run) -> None:
    """Says how to come back to a run that goes on by itself."""
    say(f"\nthe run goes on: `maloko fleet watch {run.id}` shows it, `maloko fleet cancel {run.id}` ends it")


def follow(run: Run, asked: Request, each_look: Callable[[], None] = lambda: None) -> Result:
    """Shows a run until it has ended; gives how it ended."""
    quiet = bool(asked.get("json"))
    drawn = _TerminalLines() if asked.get("interactive") and not quiet else None
    told: set[str] = set()
    began = time.monotonic()
    line_at = began + _LINE_SECONDS
    answers = True
    while True:
        try:
            progress, answers = run.progress(), True
        except NoAnswerError as error:
            # It goes on by itself, and answers as soon as there is a worker.
            if answers:
                say(f"warning: {error}")
            answers = False
            each_look()
            time.sleep(_pause_after(time.monotonic() - began))
            continue
        text = shown("progress", progress_document(progress), asked.get("columns"))
        if drawn is not None:
            drawn.draw("" if progress.state == "ended" else text)
        elif not quiet:
            # What was skipped is told in few lines at the end.
            for end in progress.failures:
                if end.outcome == "failed" and end.stack not in told:
                    told.add(end.stack)
                    say(line_of(end))
            if time.monotonic() >= line_at:
                say(text.split("\n", 1)[0])
                line_at = time.monotonic() + _LINE_SECONDS
        if progress.state == "ended":
            return run.result()
        each_look()
        time.sleep(_pause_after(time.monotonic() - began))


def _pause_after(seconds: float) -> float:
    # A short run is told at its end, not a second later; a long one is asked once a second.
    return min(0.05 + seconds / 4, _LOOK_SECONDS)


def tell(result: Result, asked: Request) -> int:
    """Tells how a run ended; gives the exit code."""
    document = result_document(result)
    tell_caller(json.dumps(document) if asked.get("json") else shown("results", document, asked.get("columns")))
    return _CODES[result.outcome]


class _TerminalLines:
    """Lines at the end of a terminal that are written again and again."""

    def __init__(self) -> None:
        self._lines = 0

    def draw(self, text: str) -> None:
        up = f"\x1b[{self._lines}F" if self._lines else ""
        sys.stdout.write(f"{up}\x1b[J{text}\n" if text else f"{up}\x1b[J")
        sys.stdout.flush()
        self._lines = text.count("\n") + 1 if text else 0
