"""The run that a command is about: the one that is named, or the last one of the fleet."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

from temporalio.client import Client, WorkflowExecution

from maloko.fleet._commands.request import Request, place_of
from maloko.fleet._connection import connect
from maloko.fleet._ends import FleetError, UnreadableError
from maloko.fleet._loop import waited_for
from maloko.fleet._queues import is_flow_queue
from maloko.fleet._run import Run, attach_async
from maloko.fleet._wire import RUN, Order

_MAX_RUNS = 100


CHANGES = ("up", "refresh", "destroy", "import")
"""Runs that change stacks."""


def run_of(asked: Request) -> Run:
    """The run of a command.

    :raises FleetError: when there is none
    """
    return waited_for(find(asked))


async def find(asked: Request, verbs: Sequence[str] = ()) -> Run:
    """The same, on the loop of the clients.

    :param verbs: where the command names no run, it is the newest one of these; of all when empty
    """
    place = place_of(asked)
    client = await connect(place["engine"])
    name = asked.get("run")
    if name is None:
        newest = [run for run in await newest_runs(client, place["name"]) if not verbs or run.verb in verbs]
        name = newest[0].execution.id if newest else None
    if name is None:
        raise FleetError(f"the server keeps no run of the fleet '{place['name']}': begin one with `maloko fleet up`")
    return await attach_async(name, place["engine"], client)


@dataclass(frozen=True)
class KeptRun:
    """A run that the server keeps."""

    fleet: str
    execution: WorkflowExecution
    memo: dict[str, Any] | None
    """What its record says of it; `None` where that is encrypted with another key."""

    @property
    def verb(self) -> str:
        """Its verb, which its name has, too: `FLEET-VERB-HASH`."""
        if self.memo is not None:
            return str(self.memo.get("verb", ""))
        return self.execution.id[len(self.fleet) + 1 :].split("-", 1)[0]

    @property
    def state(self) -> str:
        """`running`, `paused`, or how it ended."""
        state = (self.execution.status.name if self.execution.status is not None else "").lower()
        state = "cancelled" if state == "canceled" else state
        known = self.memo or {}
        if state == "completed":
            return str(known.get("outcome", state))
        return "paused" if state == "running" and known.get("paused") else state


async def newest_runs(client: Client, fleet: str, *, under_way: bool = False) -> list[KeptRun]:
    """The last runs of a fleet that the server keeps, at most 100, the one first that was begun last.

    :param under_way: whether those that have ended are left out
    """
    found = []
    async for run in _kept_runs(client, fleet, " AND ExecutionStatus = 'Running'" if under_way else ""):
        found.append(run)
        if len(found) == _MAX_RUNS:
            break
    # The server lists those first that go on, and then by their ends.
    return sorted(found, key=lambda run: run.execution.start_time, reverse=True)


async def _kept_runs(client: Client, fleet: str, more: str) -> AsyncIterator[KeptRun]:
    """The runs of a fleet that the server keeps; those that went on with a new history count once."""
    query = f"WorkflowType = '{RUN}' AND WorkflowId STARTS_WITH '{fleet}-'{more}"
    async for execution in client.list_workflows(query):
        status = execution.status
        if not is_flow_queue(execution.task_queue, fleet) or (status is not None and status.name == "CONTINUED_AS_NEW"):
            continue
        try:
            yield KeptRun(fleet, execution, dict(await execution.memo()))
        except UnreadableError:
            yield KeptRun(fleet, execution, None)


async def order_of(run: Run) -> Order:
    """What a run was asked to do, from its history."""
    handle: Any = run._handle
    client: Client = run._client
    async for event in handle.fetch_history_events(page_size=1):
        payloads = list(event.workflow_execution_started_event_attributes.input.payloads)
        try:
            order: Order = (await client.data_converter.decode(payloads))[0]
        except UnreadableError as error:
            raise error.of(run.id) from None
        return order
    raise FleetError(f"the server keeps no history of run {run.id}")
