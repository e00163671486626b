"""The work on stacks as activities: their hearts beat by the worker's loop, whatever a stack does."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from temporalio import activity
from temporalio.exceptions import ApplicationError

from maloko._errors import MalokoError
from maloko._reasons import Reason
from maloko.fleet._course._earlier_changes import EarlierChanges
from maloko.fleet._deploy import CancelledAfter, deploy_one
from maloko.fleet._ends import End
from maloko.fleet._printed import printing_as
from maloko.fleet._wire import ATTEMPTS_A_START, STACK, STACKS, Batch, BatchEnd, Launch, StackEnd, is_success

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
        info = activity.info()
        counts = _Counts(launch["stack"]["id"], info.heartbeat_details)
        async with _beating(counts, launch["heartbeat"], at_once=info.attempt > 1):
            return await self._work_on(launch, counts)

    @activity.defn(name=STACKS)
    async def stacks(self, batch: Batch) -> BatchEnd:
        """Works on stacks one after the other, until one does not succeed or the time is over."""
        until = time.monotonic() + batch["seconds"]
        ends: list[StackEnd] = []
        counts = _Counts(batch["stacks"][0]["id"])
        async with _beating(counts, batch["heartbeat"]):
            for stack in batch["stacks"]:
                counts.begin(stack["id"], len(batch["stacks"]) - len(ends) - 1)
                launch: Launch = {**batch, "number": 0, "stack": stack}  # type: ignore[typeddict-unknown-key]
                try:
                    ends.append(await self._work_on(launch, counts))
                except (ApplicationError, asyncio.CancelledError):
                    # Begun by itself, the server tries it again as that failure asks for.
                    return {"ends": ends, "interrupted": counts.last["changes"]}
                if not is_success(ends[-1]["outcome"]) or time.monotonic() > until:
                    break
        return {"ends": ends, "interrupted": None}

    async def _work_on(self, launch: Launch, counts: _Counts) -> StackEnd:
        name, attempt = launch["stack"]["id"], activity.info().attempt
        LOG.info("%s %s: begins%s", launch["verb"], name, f", attempt {attempt}" if attempt > 1 else "")
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
                    progress_every=launch["heartbeat"] / _BEATS_A_LIMIT,
                )
        except MalokoError as error:
            end = End(name, "failed", reason=Reason.CONFIGURATION.value, text=str(error).split("\n", 1)[0])
        except CancelledAfter as error:
            # What it has changed until then counts, whoever cancelled it.
            end = error.end
        except asyncio.CancelledError:
            if activity.is_worker_shutdown():
                raise _leaving() from None
            raise
        except Exception as error:  # a fault of maloko's: tried again, it would be the same
            LOG.exception("%s %s: failed in the worker", launch["verb"], name)
            # What it says may have secrets in it.
            text = f"{type(error).__name__} in the worker {self._identity}"
            end = End(name, "failed", reason=Reason.OTHER.value, text=text)
        LOG.info("%s %s: %s", launch["verb"], name, _in_words(end))
        return self._told(end, launch, counts)

    def _told(self, end: End, launch: Launch, counts: _Counts) -> StackEnd:
        if activity.is_worker_shutdown() and not end.succeeded and (end.may_pass or end.outcome == "cancelled"):
            counts.hand_over(end)
            raise _leaving()
        if end.may_pass:
            if activity.is_cancelled():
                raise asyncio.CancelledError
            counts.hand_over(end)
            raise ApplicationError(end.text, end.reason, type=end.reason)
        if end.reason == Reason.KEY.value:
            end = replace(end, text=f"{end.text} (worker {self._identity})")
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

    def __init__(self, stack: str, details: Sequence[Any] = ()) -> None:
        told = details[0] if details and isinstance(details[0], dict) else {}
        changes = told.get("changes") or {}
        self._stack = stack
        self._earlier = EarlierChanges({stack: changes})
        self._where: dict[str, Any] = {}
        self.last: dict[str, Any] = {"changes": changes}

    def begin(self, stack: str, others: int) -> None:
        """Of a batch, this one comes next, with so many others after it."""
        self._stack = stack
        self._where = {"stack": stack, "others": others}
        self.last = {**self._where, "changes": {}}

    def hand_over(self, end: End) -> None:
        """Another attempt follows this one: it is told what this one has changed."""
        self._earlier.add(end.wire())
        self.last = {**self._where, "changes": self._earlier.of(self._stack)}
        # A beat costs the server something.
        if self.last["changes"]:
            activity.heartbeat(self.last)

    def in_all(self, end: End) -> StackEnd:
        """The end with what all attempts have changed."""
        return self._earlier.in_all(end.wire())

    def take(self, progress: Any) -> None:
        self.last = {
            **self._where,
            "changes": self._earlier.of(self._stack),
            "done": progress.done,
            "total": progress.total,
            "failed": progress.failed,
            "reports": progress.reports,
        }


@asynccontextmanager
async def _beating(counts: _Counts, limit: float, *, at_once: bool = False) -> AsyncIterator[None]:
    """Tells the server within the limit, in seconds, that this worker is alive."""
    beats = asyncio.create_task(_beat(counts, limit / _BEATS_A_LIMIT, at_once=at_once))
    try:
        yield
    finally:
        beats.cancel()
        with suppress(asyncio.CancelledError):
            await beats


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
