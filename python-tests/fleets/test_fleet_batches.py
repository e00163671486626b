"""Stacks that take a moment are given to a worker several at a time. Of each comes what would come of it by itself."""

import asyncio
import json
import signal
from typing import Any

import pytest
from conftest import MakeFleet
from fleet_kit import COMMANDS, FleetFolder, FleetServer, until
from temporalio.client import Client

QUICK = 16
"""Stacks that have ended in a moment before a test begins: by so many the others are judged."""


def write(fleet: FleetFolder, count: int, fails: dict[str, str] | None = None, **settings: Any) -> None:
    """A fleet of so many stacks after the quick ones, `t16` the first of them, which are done one at a time."""
    names = [f"t{number}" for number in range(QUICK + count)]
    rows = [
        {"tenant": name, "fails": (fails or {}).get(name, ""), "part": "quick" if number < QUICK else "rest"}
        for number, name in enumerate(names)
    ]
    config = {"fails": "{fails}", **settings.pop("config", {})}
    base = {"project": "tenant", "program": "tenant.py:tenant", "stack": "{tenant}", "config": config}
    fleet.write([{**base, "for": rows}], limits={"at_a_time": 1}, **settings)


def batches_of(server: FleetServer, run: str) -> list[str]:
    """The names under which the server had the batches of a run."""

    async def asked() -> list[str]:
        client = await Client.connect(server.address)
        history = await client.get_workflow_handle(run).fetch_history()
        names = [event.activity_task_scheduled_event_attributes.activity_id for event in history.events]
        return [name for name in names if " +" in name]

    return asyncio.run(asked())


def assert_all_whole(fleet: FleetFolder, count: int) -> None:
    """Each object is there once, and nothing is left to do. The quick stacks were never begun."""
    assert fleet.objects() == {f"t{QUICK + number}": 3 for number in range(count)}
    fleet.assert_whole()
    assert fleet.run("up", "--select", "part=rest")["counts"]["unchanged"] == count
    fleet.assert_whole()


def test_a_worker_does_several_stacks_and_each_ends_as_by_itself(server: FleetServer, make_fleet: MakeFleet) -> None:
    fleet = make_fleet(server)
    write(fleet, 6, {"t17": "once", "t19": "always"})
    fleet.worker()

    run = fleet.detached_after(QUICK)
    result = fleet.results(run, code=1)

    ends = {name.removeprefix("tenant/"): (end["outcome"], end["attempts"]) for name, end in result["ends"].items()}
    assert {name: end for name, end in ends.items() if name not in {f"t{number}" for number in range(QUICK)}} == {
        **{f"t{QUICK + number}": ("done", 1) for number in range(6)},
        "t17": ("done", 2),
        "t19": ("failed", 2),
    }
    assert batches_of(server, run)[0] == "tenant/t16 +5"
    fleet.assert_whole()


def test_a_run_that_stops_in_a_batch_begins_none_of_the_rest(server: FleetServer, make_fleet: MakeFleet) -> None:
    fleet = make_fleet(server)
    write(fleet, 5, {"t16": "always"}, stop_after=1, retry={"provider": 1})
    fleet.worker()

    ends = list(fleet.results(fleet.detached_after(QUICK), code=1)["ends"].values())[QUICK:]

    assert [(end["outcome"], end["attempts"]) for end in ends] == [("failed", 1)] + [("skipped", 0)] * 4
    assert set(fleet.objects()) == {"t16"}
    fleet.assert_whole()


def test_a_worker_that_is_lost_in_a_batch_is_followed(server: FleetServer, make_fleet: MakeFleet) -> None:
    fleet = make_fleet(server)
    write(fleet, 4, config={"holds": "true"}, heartbeat="2s")
    lost = fleet.worker()
    run = fleet.detached_after(QUICK)
    until(lambda: fleet.marks("held") == {"t16"}, "the first stack to be at work")
    status = until(lambda: has_beaten(fleet, run), "a beat", pause=COMMANDS)
    lost.send_signal(signal.SIGKILL)
    fleet.let_go()
    fleet.worker()

    ends = list(fleet.results(run)["ends"].values())[QUICK:]

    assert status["counts"]["running"] == 1
    assert status["counts"]["waiting"] == 3
    assert (status["stacks"][0]["id"], status["stacks"][0]["note"]) == ("tenant/t16", "3 more after it")
    assert {end["outcome"] for end in ends} <= {"done", "unchanged"}
    assert all(end["attempts"] > 1 for end in ends), "each of the batch was begun again"
    assert_all_whole(fleet, 4)


def has_beaten(fleet: FleetFolder, run: str) -> dict[str, Any] | None:
    """Where a run stands, once its worker has told how far it is."""
    told: dict[str, Any] = json.loads(fleet.command("status", run, "--json").stdout)
    return told if told["stacks"] and " of " in told["stacks"][0]["text"] else None


@pytest.mark.nightly
def test_cancel_reaches_the_stack_of_a_batch_that_is_worked_on(server: FleetServer, make_fleet: MakeFleet) -> None:
    fleet = make_fleet(server)
    write(fleet, 4, config={"holds": "true"}, heartbeat="2s")
    fleet.worker()
    run = fleet.detached_after(QUICK)
    until(lambda: fleet.marks("held") == {"t16"}, "the first stack to be at work")

    fleet.command("cancel", run)
    ends = list(fleet.results(run, code=None)["ends"].values())[QUICK:]

    assert fleet.marks("told") == {"t16"}
    assert [end["outcome"] for end in ends] == ["cancelled"] * 4
    fleet.let_go()
    assert fleet.run("up", "--select", "part=rest")["counts"]["done"] == 4
    assert_all_whole(fleet, 4)


@pytest.mark.nightly
def test_a_worker_that_is_told_to_end_hands_its_batch_over(server: FleetServer, make_fleet: MakeFleet) -> None:
    fleet = make_fleet(server)
    write(fleet, 4, config={"holds": "true"}, heartbeat="2s")
    worker = fleet.worker()
    run = fleet.detached_after(QUICK)
    until(lambda: fleet.marks("held") == {"t16"}, "the first stack to be at work")

    worker.terminate()
    until(lambda: fleet.marks("told") == {"t16"}, "the provider to hear of it")
    fleet.let_go()
    fleet.worker()
    ends = list(fleet.results(run)["ends"].values())[QUICK:]

    assert {end["outcome"] for end in ends} == {"done"}
    assert_all_whole(fleet, 4)
