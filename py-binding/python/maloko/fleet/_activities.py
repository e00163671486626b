"""The work on one stack as an activity: its heart beats by the worker's loop, whatever the stack does."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from temporalio import activity
from temporalio.exceptions import ApplicationError

from maloko._errors import MalokoError
from maloko.fleet._deploy import CancelledAfter, deploy_one
from maloko.fleet._earlier_changes import EarlierChanges
from maloko.fleet._ends import End
from maloko.fleet._printed import printing_as
from maloko.fleet._wire import ATTEMPTS_A_START, Launch, StackEnd
from maloko.fleet._workflow import FATAL, STACK

LOG = logging.getLogger("maloko.fleet")

_BEATS_A_LIMIT = 4
"""Heartbeats within the time after which a worker counts as dead."""
_AT_ONCE = timedelta(milliseconds=1)
"""Without a delay above nothing the server would wait as after any failure."""


class StackActivities:
    """The activities of a worker, for the fleet whose programs are below a directory."""

    def __init__(self, directory: Path, identity: str) -> None:
        self._directory = directory
        self._identity = identity

    @activity.defn(name=STACK)
    async def stack(self, launch: Launch) -> StackEnd:
        """Works on a stack; raises what is to be tried again, and gives the end of everything else."""
        name, attempt = launch["stack"]["id"], activity.info().attempt
        LOG.info("%s %s: begins%s", launch["verb"], name, f", attempt {attempt}" if attempt > 1 else "")
        counts = _Counts(name, activity.info().heartbeat_details)
        every = launch["heartbeat"] / _BEATS_A_LIMIT
        beating = asyncio.create_task(_beat(counts, every, at_once=attempt > 1))
        try:
            with printing_as(name):
                end = await deploy_one(
                    launch["stack"],
                    launch["verb"],
                    directory=self._directory,
                    run=launch["run"],
                    attempt=launch["number"] + attempt,
                    backend=launch["backend"],
                    key=launch["key"],
                    history_limit=launch["keep"]["history"],
                    generations=launch["keep"]["generations"],
                    preview_only=launch["options"]["previewOnly"],
                    outputs=launch["options"]["outputs"],
                    message=launch["options"]["message"],
                    import_file=launch["options"]["importFile"],
                    on_progress=counts.take,
                    progress_every=every,
                )
        except MalokoError as error:
            line = str(error).split("\n", 1)[0]
            LOG.info("%s %s: %s", launch["verb"], name, line)
            raise ApplicationError(line, "configuration", type=FATAL) from None
        except asyncio.CancelledError as error:
            if activity.is_worker_shutdown():
                if isinstance(error, CancelledAfter):
                    counts.hand_over(error.end)
                raise _leaving() from None
            raise
        except Exception as error:  # a fault of maloko's: tried again, it would be the same
            LOG.exception("%s %s: failed in the worker", launch["verb"], name)
            # What it says may have secrets in it.
            text = f"{type(error).__name__} in the worker {self._identity}"
            raise ApplicationError(text, "other", type=FATAL) from None
        finally:
            beating.cancel()
            with suppress(asyncio.CancelledError):
                await beating
        LOG.info("%s %s: %s", launch["verb"], name, _in_words(end))
        return self._told(end, launch, counts)

    def _told(self, end: End, launch: Launch, counts: _Counts) -> StackEnd:
        if end.may_pass:
            counts.hand_over(end)
            raise ApplicationError(end.text, end.reason, type=end.reason)
        if end.outcome == "cancelled":
            if activity.is_worker_shutdown():
                counts.hand_over(end)
                raise _leaving()
            if activity.is_cancelled():
                raise asyncio.CancelledError
            # Somebody stopped this stack alone: that is its end.
        attempts = launch["number"] // ATTEMPTS_A_START + activity.info().attempt
        # What the others do does not change what is read.
        read = list(end.read) if launch["verb"] == "up" else []
        return {**counts.in_all(end), "read": read, "worker": self._identity, "attempts": attempts}


def _in_words(end: End) -> str:
    changes = ", ".join(f"{count} {op}" for op, count in sorted(end.changes.items()))
    return f"{end.outcome} after {end.seconds:.1f} s" + (f": {end.text or changes}" if end.text or changes else "")


class _Counts:
    """What heartbeats tell: the last counts of the engine, and what the attempts before this one have changed.

    :param details: the last heartbeat of the attempt before
    """

    def __init__(self, stack: str, details: Sequence[Any]) -> None:
        told = details[0] if details and isinstance(details[0], dict) else {}
        changes = told.get("changes") or {}
        self._stack = stack
        self._earlier = EarlierChanges({stack: changes})
        self.last: dict[str, Any] = {"changes": changes}

    def hand_over(self, end: End) -> None:
        """Another attempt follows this one: it is told what this one has changed."""
        self._earlier.add(end.wire())
        self.last = {"changes": self._earlier.of(self._stack)}
        # A beat costs the server something.
        if self.last["changes"]:
            activity.heartbeat(self.last)

    def in_all(self, end: End) -> StackEnd:
        """The end with what all attempts have changed."""
        return self._earlier.in_all(end.wire())

    def take(self, progress: Any) -> None:
        self.last = {
            "changes": self._earlier.of(self._stack),
            "done": progress.done,
            "total": progress.total,
            "failed": progress.failed,
            "reports": progress.reports,
        }


async def _beat(counts: _Counts, every: float, *, at_once: bool) -> None:
    # Not at once in a first attempt: the server writes down each beat, and most stacks have ended before the first one.
    # The run may have been cancelled while nobody was at the stack, and one hears of that by a beat.
    if at_once:
        activity.heartbeat(counts.last)
    while True:
        await asyncio.sleep(every)
        activity.heartbeat(counts.last)


def _leaving() -> ApplicationError:
    """Another worker is to go on at once."""
    return ApplicationError("the worker was stopped", "leaving", type="leaving", next_retry_delay=_AT_ONCE)
