"""Where a run stands: what its workflow knows, with what the server knows of the workers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

from temporalio.api.enums.v1 import PendingActivityState, TimeoutType
from temporalio.api.workflow.v1 import PendingActivityInfo
from temporalio.client import WorkflowExecutionDescription, WorkflowHandle, WorkflowQueryFailedError
from temporalio.service import RPCError, RPCStatusCode

from maloko.fleet._codec import VARIABLE
from maloko.fleet._course._course import outcome_of
from maloko.fleet._ended_runs import answer_of, left_by
from maloko.fleet._ends import End, FleetError, NoAnswerError, UnreadableError
from maloko.fleet._queues import stack_of
from maloko.fleet._wire import RunEnd

_ANSWERS_WITHIN = timedelta(seconds=10)
"""The server does not wait longer for a worker that answers a question."""
_DESCRIBED_WITHIN = timedelta(seconds=2)
"""The same for what the server itself knows, once nobody has answered."""
_STAYS = (RPCStatusCode.NOT_FOUND, RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNAUTHENTICATED)
"""What the server would say again."""


@dataclass(frozen=True)
class StackProgress:
    """A stack that is worked on, or waits to be."""

    stack: str
    worker: str
    """Who works on it, or did last; empty before the first one."""
    attempt: int
    is_running: bool
    """Is a worker at it now?"""
    done: int | None
    """Resources that are done, by the worker's last heartbeat."""
    total: int | None
    failure: str
    """What the attempt before came to, without secrets."""
    seconds: float
    """Since this attempt began."""
    waits: float = 0.0
    """Seconds until it is tried again; 0 where it is a worker that it waits for."""
    max_attempts: int | None = None
    """How many attempts there are, where it waits because its provider failed."""
    others: int = 0
    """How many stacks its worker was given with it, which come after it."""


@dataclass(frozen=True)
class Progress:
    """Where a run stands."""

    run: str
    verb: str
    seconds: float
    wave: int
    waves: int
    stacks: int
    counts: dict[str, int]
    """`done`, `unchanged`, `running`, `retrying`, `failed`, `skipped`, `cancelled` and `waiting`."""
    state: str
    """`running`, `paused`, `stopping` or `ended`."""
    outcome: str | None
    """`done`, `failed` or `cancelled`, once it has ended."""
    began: float
    """Seconds since 1970."""
    stopped: str
    """Why nothing begins any more."""
    at_work: list[StackProgress]
    """The longest first."""
    failures: list[End]
    """The last ones."""
    failures_in_all: int

    @property
    def per_minute(self) -> float | None:
        """Stacks that ended a minute; `None` in the first seconds."""
        ended = self.counts["done"] + self.counts["unchanged"] + self.counts["failed"]
        return ended * 60 / self.seconds if ended and self.seconds >= 1 else None

    @property
    def remaining(self) -> float | None:
        """Seconds until the end, as it goes now; `None` where nobody can say."""
        left = self.counts["running"] + self.counts["retrying"] + self.counts["waiting"]
        rate = self.per_minute
        # The rate says nothing about stacks that wait after a failure.
        known = self.counts["running"] + self.counts["waiting"] > 0
        return left * 60 / rate if rate and known and self.state == "running" else None


def has_ended(description: WorkflowExecutionDescription) -> bool:
    """Has the workflow ended?"""
    return description.status is not None and description.status.name not in ("RUNNING", "CONTINUED_AS_NEW")


async def asked(handle: WorkflowHandle[Any, Any], query: str, *arguments: Any) -> Any:
    """What the workflow of a run answers; of one that has ended, what its result says of that.

    :raises NoAnswerError: when nobody answers in its place
    """
    left = await _left_by(handle)
    if left is not None:
        return answer_of(left, query, arguments)
    try:
        return await handle.query(query, args=arguments, rpc_timeout=_ANSWERS_WITHIN)
    except RPCError as error:
        if error.status in _STAYS:
            raise refused(handle.id, error) from None
    except WorkflowQueryFailedError as error:
        # A worker with another key says so in its answer.
        if VARIABLE in str(error):
            raise NoAnswerError(handle.id, is_stuck=True) from None
        raise FleetError(f"run {handle.id}: its worker cannot answer: {error}") from None
    except UnreadableError as error:
        raise error.of(handle.id) from None
    raise NoAnswerError(handle.id, is_stuck=await _is_stuck(handle))


async def _left_by(handle: WorkflowHandle[Any, Any]) -> RunEnd | None:
    try:
        return await left_by(handle, await described(handle))
    except UnreadableError as error:
        raise error.of(handle.id) from None


async def described(handle: WorkflowHandle[Any, Any]) -> WorkflowExecutionDescription:
    """What the server knows of a run.

    :raises NoAnswerError: when it does not answer
    """
    try:
        return await handle.describe(rpc_timeout=_ANSWERS_WITHIN)
    except RPCError as error:
        raise refused(handle.id, error) from None


def refused(run: str, error: RPCError) -> FleetError:
    """What it means that the server refused a question about a run."""
    if error.status is RPCStatusCode.NOT_FOUND:
        return FleetError(f"the server knows no run '{run}': `maloko fleet history` lists those that it keeps")
    if error.status in _STAYS:
        return FleetError(f"run {run}: the server refuses to tell of it: {error}")
    return NoAnswerError(run)


async def _is_stuck(handle: WorkflowHandle[Any, Any]) -> bool:
    """Has a worker tried to go on with the run, in vain?"""
    try:
        description = await handle.describe(rpc_timeout=_DESCRIBED_WITHIN)
    except RPCError:
        return False
    return description.raw_description.pending_workflow_task.attempt > 1


async def progress_of(run: str, handle: WorkflowHandle[Any, Any]) -> Progress:
    """Asks the run and the server.

    :raises NoAnswerError: when nobody answers in place of the run
    """
    told = await asked(handle, "progress")
    description = await described(handle)
    infos = description.raw_description.pending_activities
    pending = [_at_work(info, await _failure_of(info, handle)) for info in infos]
    counts = counts_with(told["counts"], pending)
    ended = has_ended(description)
    state = "ended" if ended else "stopping" if told["stopped"] else "paused" if told["paused"] else "running"
    now = (
        description.close_time.timestamp()
        if ended and description.close_time
        else datetime.now(timezone.utc).timestamp()
    )
    waiting = [
        StackProgress(
            stack=name,
            worker="",
            attempt=number,
            is_running=False,
            done=None,
            total=None,
            failure=text or "the provider failed",
            seconds=0.0,
            waits=max(at - now, 0.0),
            max_attempts=told.get("maxAttempts"),
        )
        for name, at, number, text in told["retries"]
    ]
    return Progress(
        run=run,
        verb=told["verb"],
        seconds=max(now - told["began"], 0.0),
        wave=told["wave"],
        waves=told["waves"],
        stacks=told["stacks"],
        counts=counts,
        state=state,
        outcome=outcome_of(counts) if ended else None,
        began=told["began"],
        stopped=told["stopped"],
        at_work=sorted(pending, key=lambda stack: -stack.seconds) + waiting,
        failures=[End.of_wire(end) for end in told["failures"]],
        failures_in_all=told["failuresInAll"],
    )


def counts_with(counts: dict[str, int], pending: Sequence[StackProgress]) -> dict[str, int]:
    """The counts of a run, which takes all that it has given to the server for running, by what the server says.

    The server is asked a moment later. What the run has given to it in that moment is counted as waiting already.
    """
    idle = [stack for stack in pending if not stack.is_running]
    waiting = min(len(idle) + sum(stack.others for stack in pending), counts["running"])
    again = min(sum(1 for stack in idle if stack.attempt > 1), waiting)
    return {
        **counts,
        "running": counts["running"] - waiting,
        "retrying": counts["retrying"] + again,
        "waiting": counts["waiting"] + waiting - again,
    }


async def _failure_of(info: PendingActivityInfo, handle: WorkflowHandle[Any, Any]) -> str:
    """What the attempt before came to; it may be encrypted."""
    if not info.HasField("last_failure"):
        return ""
    if info.last_failure.timeout_failure_info.timeout_type == TimeoutType.TIMEOUT_TYPE_HEARTBEAT:
        # The one that is at it now is another one.
        return "its worker was lost" if _is_running(info) else f"worker {info.last_worker_identity} was lost"
    error = await handle._client.data_converter.decode_failure(info.last_failure)
    return str(getattr(error, "message", error))


def _at_work(info: PendingActivityInfo, failure: str) -> StackProgress:
    running = _is_running(info)
    counts = _counts(info)
    began = info.last_started_time.ToDatetime(timezone.utc) if info.HasField("last_started_time") else None
    seconds = (datetime.now(timezone.utc) - began).total_seconds() if running and began is not None else 0.0
    next_at = info.scheduled_time.ToDatetime(timezone.utc)
    first, others = stack_of(info.activity_id)
    return StackProgress(
        stack=counts.get("stack", first),
        worker=info.last_worker_identity,
        attempt=info.attempt,
        is_running=running,
        done=counts.get("done"),
        total=counts.get("total"),
        failure=failure,
        seconds=max(seconds, 0.0),
        waits=0.0 if running else max((next_at - datetime.now(timezone.utc)).total_seconds(), 0.0),
        others=counts.get("others", others),
    )


def _is_running(info: PendingActivityInfo) -> bool:
    return info.state != PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED


def _counts(info: PendingActivityInfo) -> dict[str, Any]:
    """The counts of the last heartbeat; those that are encrypted stay unread."""
    for payload in info.heartbeat_details.payloads:
        if payload.metadata.get("encoding") == b"json/plain":
            counts = json.loads(payload.data)
            return counts if isinstance(counts, dict) else {}
    return {}
