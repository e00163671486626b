"""Runs are replayed where another worker goes on with them: the code has to decide as it did when they went.

A worker of this version is given the runs that others of this version have begun (`_queues.py`). So what a run decides
changes with the version alone: the histories of conformance/fleets/histories hold the code to that.
"""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest
from conftest import MakeFleet
from fleet_kit import FleetFolder, FleetServer, stacks_of, until
from temporalio.api.history.v1 import History
from temporalio.client import Client, WorkflowHistory
from temporalio.worker import Replayer, UnsandboxedWorkflowRunner

from maloko._maloko import VERSION
from maloko.fleet._codec import data_converter
from maloko.fleet._workflow import FleetRun

RECORDED = Path(__file__).parents[2] / "conformance" / "fleets" / "histories" / VERSION / "python"
QUICK = 16
"""Stacks that ended in a moment before a run goes on: so many judge whether the others are done in batches."""
RECORDS = bool(os.environ.get("MALOKO_RECORD_HISTORIES"))
"""Are the runs of this test to be the recorded ones? `make fleet-histories` says so."""


async def history_of(server: FleetServer, run: str) -> WorkflowHistory:
    client = await Client.connect(server.address, data_converter=data_converter())
    return await client.get_workflow_handle(run).fetch_history()


def replay(history: WorkflowHistory) -> None:
    runner = UnsandboxedWorkflowRunner()
    replayer = Replayer(workflows=[FleetRun], workflow_runner=runner, data_converter=data_converter())
    asyncio.run(replayer.replay_workflow(history))


def failing_run(fleet: FleetFolder) -> str:
    """One with waves, limits, attempts that fail, and stacks that are skipped."""
    base: dict[str, Any] = {"project": "tenant", "program": "tenant.py:tenant", "labels": {"ring": "first"}}
    stacks = [
        {**base, "stack": "broken", "config": {"fails": "always"}},
        {**base, "stack": "slow", "config": {"fails": "once"}},
        {**base, "stack": "skipped", "needs": ["broken"]},
        {**base, "stack": ["a", "b", "c"], "labels": {"ring": "second"}, "config": {"files": "1"}},
    ]
    waves = [{"select": "ring=first"}, {"pause": "100ms"}]
    fleet.write(stacks, waves=waves, limits={"at_a_time": 2, "each": {"ring": 1}, "starts_per_second": {"ring": 20}})
    fleet.worker()
    return str(fleet.run("up", code=1)["run"])


def steered_run(fleet: FleetFolder) -> str:
    """One that is paused, goes on, and is cancelled while stacks are at work."""
    fleet.write(stacks_of(3, holds="true"), limits={"at_a_time": 2})
    fleet.worker()
    run = fleet.detached("up")
    until(lambda: len(fleet.marks("held")) == 2, "two stacks at work")
    fleet.command("pause", run)
    fleet.command("resume", run)
    fleet.command("cancel", run)
    return run


def quick_run(fleet: FleetFolder) -> str:
    """One whose stacks are done in batches, of which one fails for a while."""
    [stacks] = stacks_of(QUICK + 4)
    broken = {**stacks, "for": [{"tenant": "broken"}], "config": {"fails": "once"}}
    fleet.write([stacks, broken, {**stacks, "for": [{"tenant": "last"}]}], limits={"at_a_time": 1})
    fleet.worker()
    run = fleet.detached_after(QUICK)
    fleet.results(run)
    return run


RUNS = [failing_run, steered_run, quick_run]


@pytest.mark.nightly
@pytest.mark.parametrize("make", RUNS)
def test_a_run_is_replayed_as_it_went(server: FleetServer, make_fleet: MakeFleet, make: Any) -> None:
    history = asyncio.run(history_of(server, make(make_fleet(server))))

    replay(history)

    if RECORDS:
        RECORDED.mkdir(parents=True, exist_ok=True)
        (RECORDED / f"{make.__name__}.binpb").write_bytes(History(events=history.events).SerializeToString())


@pytest.mark.parametrize("make", RUNS)
def test_the_code_decides_as_it_did_when_runs_of_this_version_were_recorded(make: Any) -> None:
    name = make.__name__
    recorded = History.FromString((RECORDED / f"{name}.binpb").read_bytes())
    replay(WorkflowHistory(name, recorded.events))
