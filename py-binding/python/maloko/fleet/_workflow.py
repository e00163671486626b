"""A run of a fleet as a workflow. It decides by the course alone; what it is given and gives is JSON."""

from __future__ import annotations

import asyncio
import contextlib
from datetime import timedelta
from typing import Any

from temporalio import exceptions, workflow
from temporalio.common import Priority, RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError, CancelledError, is_cancelled_exception

from maloko.fleet._course._batches import SECONDS
from maloko.fleet._course._course import Course, Start, outcome_of
from maloko.fleet._queues import batch_id, stack_queue
from maloko.fleet._wire import (
    ATTEMPTS_A_START,
    RUN,
    SHOWN,
    STACK,
    STACKS,
    BatchEnd,
    Order,
    RunEnd,
    StackEnd,
    StackSpec,
    Work,
    verb_of,
)

_STACKS_AN_EXECUTION = 1000
"""After so many the run goes on with a new history; a history of the server must not become too long."""
_FIRST_WAIT, _MAX_WAIT = timedelta(seconds=1), timedelta(seconds=30)


@workflow.defn(name=RUN)
class FleetRun:
    """A run, from its plan to the end of its last stack."""

    @workflow.init
    def __init__(self, order: Order) -> None:
        self._order = order
        self._plan = order["plan"]
        self._began = order["began"] or workflow.time()
        self._course = Course(self._plan, order["state"], workflow.time())
        self._before = len(self._course.ends)
        self._running: dict[str, asyncio.Task[None]] = {}
        self._texts: dict[str, str] = {}
        """What the last start of each stack came to."""
        self._something_ended = False
        self._draining = False
        self._stop_is_told = False
        info = workflow.info()
        self._run = f"{info.workflow_id}/{info.first_execution_run_id}"

    @workflow.run
    async def run(self, order: Order) -> RunEnd:
        try:
            await self._go_on()
        except asyncio.CancelledError:
            await self._end_in_order()
            raise
        result = self._result()
        workflow.upsert_memo({"failed": result["counts"]["failed"], "outcome": result["outcome"]})
        return result

    async def _go_on(self) -> None:
        course = self._course
        while not course.is_over:
            if self._needs_new_history():
                self._draining = True
            if self._draining and course.is_idle:
                workflow.continue_as_new(
                    {
                        "plan": self._plan,
                        "options": self._order["options"],
                        "began": self._began,
                        "state": course.state(),
                    }
                )
            if not self._draining:
                for batch in course.launches(workflow.time()):
                    stack, number = batch[0]
                    work = self._work(stack, number) if len(batch) == 1 else self._work_on_batch(batch)
                    self._running[stack["id"]] = asyncio.create_task(work)
            if course.is_over:
                break
            self._something_ended = False
            wait = None if self._draining else course.wait(workflow.time())
            with contextlib.suppress(asyncio.TimeoutError):
                await workflow.wait_condition(
                    lambda: self._something_ended, timeout=None if wait is None else timedelta(seconds=wait)
                )

    def _needs_new_history(self) -> bool:
        many = len(self._course.ends) - self._before >= _STACKS_AN_EXECUTION
        return many or workflow.info().is_continue_as_new_suggested()

    async def _end_in_order(self) -> None:
        """Cancels what is at work and waits for it: nothing goes on once the run is over."""
        self._course.stop("the run was cancelled", "cancelled", workflow.time())
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        while not all(task.done() for task in tasks):
            try:
                await asyncio.shield(asyncio.gather(*tasks, return_exceptions=True))
            except asyncio.CancelledError:
                # Cancelled again: it is being done.
                continue

    async def _work(self, stack: StackSpec, number: int) -> None:
        began = workflow.time()
        try:
            end: StackEnd = await workflow.execute_activity(
                STACK,
                {**self._in_common(), "number": (number - 1) * ATTEMPTS_A_START, "stack": stack},
                activity_id=stack["id"] if number == 1 else f"{stack['id']}/{number}",
                retry_policy=RetryPolicy(initial_interval=_FIRST_WAIT, maximum_interval=_MAX_WAIT),
                **self._where_and_how_long(stack),
            )
        except (ActivityError, asyncio.CancelledError) as error:
            end = _end_of(stack, number, workflow.time() - began, error)
        self._course.ended(end, workflow.time())
        self._is_over(stack, [end])

    async def _work_on_batch(self, batch: list[Start]) -> None:
        stacks = [stack for stack, _ in batch]
        told: BatchEnd | None
        try:
            told = await workflow.execute_activity(
                STACKS,
                {**self._in_common(), "stacks": stacks, "seconds": SECONDS},
                activity_id=batch_id(stacks[0]["id"], len(stacks) - 1),
                # What is to be tried again, each of the stacks tries by itself.
                retry_policy=RetryPolicy(maximum_attempts=1),
                **self._where_and_how_long(stacks[0]),
            )
        except (ActivityError, asyncio.CancelledError):
            told = None
        self._course.batch_ended([stack["id"] for stack in stacks], told, workflow.time())
        self._is_over(stacks[0], [] if told is None else told["ends"])

    def _where_and_how_long(self, stack: StackSpec) -> dict[str, Any]:
        """The options that all activities have."""
        code = self._plan["code"][stack["language"]]
        return {
            "task_queue": stack_queue(self._plan["fleet"], stack["queue"], stack["language"], code),
            "heartbeat_timeout": timedelta(seconds=self._plan["heartbeat"]),
            "schedule_to_close_timeout": timedelta(
                seconds=max(self._began + self._plan["deadline"] - workflow.time(), 1.0)
            ),
            "cancellation_type": workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
            "priority": self._priority(stack),
        }

    def _is_over(self, first: StackSpec, ends: list[StackEnd]) -> None:
        """A stack, or the batch that begins with it, is at work no more."""
        del self._running[first["id"]]
        for end in ends:
            self._texts[end["id"]] = end["text"]
        self._tell_of_earlier_failures()
        self._something_ended = True

    def _tell_of_earlier_failures(self) -> None:
        """Stacks that were to be tried again when the run was stopped: their ends say of what they failed."""
        if not self._course.stopped or self._stop_is_told:
            return
        self._stop_is_told = True
        for name, end in self._course.ends.items():
            if end["reason"] == "stopped" and self._texts.get(name):
                end["text"] = f"{end['text']}; it failed before: {self._texts[name]}"

    def _in_common(self) -> Work:
        return {
            "fleet": self._plan["fleet"],
            "run": self._run,
            "verb": self._plan["verb"],
            "options": self._order["options"],
            "backend": self._plan["backend"],
            "key": self._plan["key"],
            "keep": self._plan["keep"],
            "heartbeat": self._plan["heartbeat"],
        }

    def _priority(self, stack: StackSpec) -> Priority:
        """Stacks with different values of the first label that has a limit take turns where workers are few."""
        label = next(iter(self._plan["limits"]["each"]), None)
        value = None if label is None else stack["labels"].get(label)
        return Priority.default if value is None else Priority(fairness_key=value[:64])

    def _result(self) -> RunEnd:
        counts = self._course.counts()
        return {
            "fleet": self._plan["fleet"],
            "verb": verb_of(self._plan, self._order["options"]),
            "outcome": outcome_of(counts),
            "stopped": self._course.stopped,
            "seconds": round(workflow.time() - self._began, 3),
            "counts": counts,
            "ends": list(self._course.ends.values()),
            "began": self._began,
            "wave": self._course.wave + 1,
            "waves": max(len(self._plan["waves"]), 1),
        }

    @workflow.query
    def progress(self) -> dict[str, Any]:
        """Counts, and the stacks that are worth a look."""
        course = self._course
        # Those that failed come last, where the newest ones are shown: what was skipped is so because of them.
        failures = [
            end for outcome in ("skipped", "failed") for end in course.ends.values() if end["outcome"] == outcome
        ]
        return {
            "fleet": self._plan["fleet"],
            "verb": verb_of(self._plan, self._order["options"]),
            "began": self._began,
            "now": workflow.time(),
            "wave": course.wave + 1,
            "waves": max(len(self._plan["waves"]), 1),
            "stacks": len(self._plan["stacks"]),
            "counts": course.counts(),
            "paused": course.paused,
            "stopped": course.stopped,
            "retries": [(*retry, self._texts.get(retry[0], "")) for retry in course.retries()[:SHOWN]],
            "maxAttempts": self._plan["retry"]["provider"],
            "failures": failures[-SHOWN:],
            "failuresInAll": len(failures),
        }

    @workflow.query
    def ends(self, since: int, most: int) -> list[StackEnd]:
        """What has ended, in that order, from a number on."""
        return list(self._course.ends.values())[since : since + most]

    @workflow.signal
    def pause(self) -> None:
        """Nothing begins until `resume`; what is running goes on."""
        self._course.paused = True
        workflow.upsert_memo({"paused": True})

    @workflow.signal
    def resume(self) -> None:
        """Stacks begin again."""
        self._course.paused = False
        self._something_ended = True
        workflow.upsert_memo({"paused": False})


def _end_of(stack: StackSpec, number: int, seconds: float, error: BaseException) -> StackEnd:
    """What it means that the activity of a stack gave no result."""
    end: StackEnd = {
        "id": stack["id"],
        "outcome": "failed",
        "changes": {},
        "reason": "other",
        "text": "",
        "attempts": number,
        "seconds": round(seconds, 3),
    }
    cause = error.cause if isinstance(error, ActivityError) else error
    if is_cancelled_exception(error) or isinstance(cause, CancelledError):
        end = {**end, "outcome": "cancelled", "reason": "cancelled", "text": "the run was cancelled"}
    elif isinstance(cause, exceptions.TimeoutError):
        end["text"] = "no worker has finished it before the run's deadline"
    elif isinstance(cause, ApplicationError):
        reason = (cause.details[0] if cause.details else cause.type) or "other"
        end = {**end, "reason": reason, "text": cause.message}
    return end
