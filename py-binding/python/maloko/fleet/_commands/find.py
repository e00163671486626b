"""The run that a command is about: the one that is named, or the last one of the fleet."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from temporalio.client import Client, WorkflowExecution

from maloko.fleet._commands.request import Request, place_of
from maloko.fleet._connection import connect
from maloko.fleet._ends import FleetError
from maloko.fleet._loop import waited_for
from maloko.fleet._run import Run, attach_async
from maloko.fleet._wire import Order
from maloko.fleet._workflow import RUN

_MAX_RUNS = 100


def run_of(asked: Request) -> Run:
    """The run of a command.

    :raises FleetError: when there is none
    """
    return waited_for(find(asked))


async def find(asked: Request) -> Run:
    """The same, on the loop of the clients."""
    place = place_of(asked)
    client = await connect(place["engine"])
    name = asked.get("run")
    if name is None:
        newest = await newest_runs(client, place["name"])
        name = newest[0].id if newest else None
    if name is None:
        raise FleetError(f"the server keeps no run of the fleet '{place['name']}': begin one with `maloko fleet up`")
    return await attach_async(name, place["engine"], client)


async def newest_runs(client: Client, fleet: str) -> list[WorkflowExecution]:
    """The last runs of a fleet that the server keeps, at most 100, the one first that was begun last."""
    found = []
    async for execution in _executions(client, fleet):
        found.append(execution)
        if len(found) == _MAX_RUNS:
            break
    # The server lists those first that go on, and then by their ends.
    return sorted(found, key=lambda execution: execution.start_time, reverse=True)


async def _executions(client: Client, fleet: str) -> AsyncIterator[WorkflowExecution]:
    """The runs of a fleet that the server keeps; those that went on with a new history count once."""
    async for execution in client.list_workflows(f"WorkflowType = '{RUN}' AND WorkflowId STARTS_WITH '{fleet}-'"):
        memo = await execution.memo()
        status = execution.status
        if memo.get("fleet") == fleet and (status is None or status.name != "CONTINUED_AS_NEW"):
            yield execution


async def order_of(run: Run) -> Order:
    """What a run was asked to do, from its history."""
    handle: Any = run._handle
    client: Client = run._client
    async for event in handle.fetch_history_events(page_size=1):
        payloads = list(event.workflow_execution_started_event_attributes.input.payloads)
        order: Order = (await client.data_converter.decode(payloads))[0]
        return order
    raise FleetError(f"the server keeps no history of run {run.id}")
