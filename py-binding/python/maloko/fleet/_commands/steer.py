"""Commands that change how a run goes on."""

from __future__ import annotations

import contextlib
import time

from maloko.fleet._commands.find import run_of
from maloko.fleet._commands.request import Request
from maloko.fleet._commands.texts import say
from maloko.fleet._commands.watch import follow, tell
from maloko.fleet._ends import FleetError, NoAnswerError, UnreadableError
from maloko.fleet._run import Run

_LOOK_SECONDS = 1.0


def pause(asked: Request) -> int:
    """`fleet pause`."""
    run = run_of(asked)
    run.pause()
    say(f"paused {run.id}: what is running goes on, nothing else begins until `maloko fleet resume {run.id}`")
    return 0


def resume(asked: Request) -> int:
    """`fleet resume`."""
    run = run_of(asked)
    run.resume()
    say(f"{run.id} goes on")
    return 0


def cancel(asked: Request) -> int:
    """`fleet cancel`: waits until everything has ended in order."""
    run = run_of(asked)
    if run.has_ended():
        raise FleetError(f"run {run.id} has ended: there is nothing left to cancel")
    run.cancel()
    say(f"cancelling {run.id}: what is in flight ends in order, once a worker is there")
    try:
        tell(follow(run, asked), asked)
    except UnreadableError as error:
        # Cancelling needs no key, nor does it to see that the run is over.
        say(f"warning: {error}")
        _wait_for_end(run)
        say(f"run {run.id} has ended")
    return 0


def _wait_for_end(run: Run) -> None:
    while True:
        with contextlib.suppress(NoAnswerError):
            if run.has_ended():
                return
        time.sleep(_LOOK_SECONDS)
