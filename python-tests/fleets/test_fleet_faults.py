"""Fleets of which a part fails at the worst place: the network, the interpreter, a worker within its journal."""

import json
from collections.abc import Iterator

import pytest
from conftest import MakeFleet
from fleet_kit import COMMANDS, FleetFolder, FleetServer, Wire, stacks_of, until
from night import by_day

KILL_POINTS = [
    "kill::before-intent",
    "kill::after-intent",
    "kill::before-outcome",
    "kill::after-outcome",
    "kill::before-fold",
    "kill::after-fold-record",
    "kill::before-release",
    "kill::after-release",
]


def is_taken_over(fleet: FleetFolder, run: str, count: int) -> bool:
    """Has so many of the run's stacks a second worker tried? The server may still ask the one that is cut off."""
    told = fleet.command("status", run, "--json", code=None)
    stacks = json.loads(told.stdout)["stacks"] if told.returncode == 0 else []
    return sum(1 for row in stacks if row["attempt"] > 1) == count


def assert_all_whole(fleet: FleetFolder, count: int) -> None:
    """Each object is there once, and nothing is left to do."""
    assert fleet.objects() == {f"t{number}": 3 for number in range(count)}
    fleet.assert_whole()
    assert fleet.run("up")["counts"]["unchanged"] == count
    fleet.assert_whole()


@pytest.fixture
def wire(server: FleetServer) -> Iterator[Wire]:
    """A way to the server that can be cut."""
    made = Wire(server.port)
    yield made
    made.close()


def test_a_worker_that_is_cut_off_from_the_server_makes_nothing_twice(
    server: FleetServer, make_fleet: MakeFleet, wire: Wire
) -> None:
    fleet = make_fleet(server)
    fleet.write(stacks_of(2, holds="true"), heartbeat="3s")
    fleet.worker("--slots", "2", "--file", fleet.file_by_way_of(wire))
    run = fleet.detached("up")
    until(lambda: len(fleet.marks("held")) == 2, "both stacks at work")
    wire.cut()
    other = fleet.worker()
    # The first one is alive, and holds both stacks.
    until(lambda: is_taken_over(fleet, run, 2), "the other worker to try", 180, COMMANDS)
    fleet.let_go()

    ends = fleet.results(run)["ends"].values()
    wire.mend()

    assert {end["outcome"] for end in ends} <= {"done", "unchanged"}
    assert {end["worker"].rsplit(":", 1)[1] for end in ends} == {str(other.pid)}
    assert_all_whole(fleet, 2)


@pytest.mark.nightly
def test_a_provider_that_holds_the_interpreter_makes_nothing_twice(server: FleetServer, make_fleet: MakeFleet) -> None:
    fleet = make_fleet(server)
    fleet.write(stacks_of(4, grips="8"), heartbeat="2s")
    fleet.worker("--slots", "4")
    run = fleet.detached("up")
    until(lambda: (fleet.world / "gripped").exists(), "the interpreter to be held")
    fleet.worker("--slots", "4")

    ends = fleet.results(run)["ends"].values()

    assert (fleet.world / "let-go").exists()
    assert {end["outcome"] for end in ends} <= {"done", "unchanged"}
    assert any(end["attempts"] > 1 for end in ends), "the silent worker was followed"
    assert_all_whole(fleet, 4)


@pytest.mark.parametrize("point", by_day(KILL_POINTS, lambda point, _: point == "kill::after-intent"))
def test_a_worker_that_dies_at_a_point_of_its_journal_is_followed(
    server: FleetServer, make_fleet: MakeFleet, point: str
) -> None:
    fleet = make_fleet(server)
    fleet.write(stacks_of(6), heartbeat="2s")
    lost = fleet.worker("--slots", "3", FAILPOINTS=f"{point}=2*off->1*return")
    run = fleet.detached("up")
    assert lost.wait(60) != 0
    fleet.worker()

    ends = fleet.results(run)["ends"].values()

    assert {end["outcome"] for end in ends} <= {"done", "unchanged"}
    assert any(end["attempts"] > 1 for end in ends), "the dead worker was followed"
    assert_all_whole(fleet, 6)
