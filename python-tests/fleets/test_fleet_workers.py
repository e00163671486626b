"""Which worker a stack is at, and for how long."""

import json
from typing import Any

from conftest import MakeFleet
from fleet_kit import COMMANDS, FleetFolder, FleetServer, until


def stacks_of(count: int, **config: str) -> list[dict[str, Any]]:
    rows = [{"tenant": f"t{number}"} for number in range(count)]
    return [{"project": "tenant", "program": "tenant.py:tenant", "stack": "{tenant}", "for": rows, "config": config}]


def status_of(fleet: FleetFolder, run: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(fleet.command("status", run, "--json").stdout)
    return told


def test_a_stack_that_takes_longer_than_a_worker_may_be_silent_stays_where_it_is(
    server: FleetServer, make_fleet: MakeFleet
) -> None:
    fleet = make_fleet(server)
    fleet.write(stacks_of(1, holds="true"), heartbeat="8s")
    worker = fleet.worker()
    run = fleet.detached("up")
    until(lambda: fleet.marks("held"), "the stack to be at work")
    began = status_of(fleet, run)["seconds"]

    def waited_for() -> dict[str, Any] | None:
        told = status_of(fleet, run)
        return told if told["seconds"] > began + 10 or told["stacks"][0]["attempt"] > 1 else None

    row = until(waited_for, "the worker to have been at it for longer than that", pause=COMMANDS)["stacks"][0]

    assert (row["id"], row["attempt"]) == ("tenant/t0", 1)
    assert row["worker"].endswith(f":{worker.pid}")
    assert " of " in row["text"], "heartbeats tell how far it is"
    fleet.let_go()
    end = json.loads(fleet.command("results", run, "--json").stdout)["ends"][0]
    assert (end["outcome"], end["attempts"]) == ("done", 1)
    assert fleet.objects() == {"t0": 3}


def test_a_worker_gets_no_stacks_of_programs_that_are_others_now(server: FleetServer, make_fleet: MakeFleet) -> None:
    fleet = make_fleet(server)
    fleet.write(stacks_of(2, plan="gold"))
    fleet.worker()
    fleet.run("up")
    program = fleet.folder / "tenant.py"
    program.write_text(program.read_text().replace('config.get_int("files") or 3', "4"))

    # The worker of the old programs goes on asking for stacks.
    run = fleet.detached("up")

    def offered() -> dict[str, Any] | None:
        told = status_of(fleet, run)
        return told if told["stacks"] or told["state"] == "ended" else None

    waiting = until(offered, "the stacks to be offered")["stacks"]
    assert [row["text"] for row in waiting] == ["waits for a worker"] * 2
    newer = fleet.worker()
    ends = json.loads(fleet.command("results", run, "--json").stdout)["ends"]
    assert {end["worker"].rsplit(":", 1)[1] for end in ends} == {str(newer.pid)}
    assert fleet.objects() == {"t0": 4, "t1": 4}
    fleet.assert_whole()
