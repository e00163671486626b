"""Fleets whose states are elsewhere than in a directory: what a worker that was killed has begun, the others end."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from conftest import MakeFleet
from fleet_kit import FleetServer, stacks_of, until
from night import by_day

SERVERS = Path(__file__).parents[2] / "engine-stores" / "tests"
COMMANDS = {
    "postgresql": [str(SERVERS / "postgres-server")],
    "s3": [sys.executable, str(SERVERS / "servers" / "moto_server.py")],
}
NAMES = [f"t{number}" for number in range(10)]


class Backend(NamedTuple):
    """A backend on a server of its own. A silent holder is replaced after five seconds."""

    address: str
    server: "subprocess.Popen[str]"

    def restart(self) -> None:
        """Has the server end at once, and begin again."""
        assert self.server.stdin is not None
        assert self.server.stdout is not None
        self.server.stdin.write("restart\n")
        self.server.stdin.flush()
        assert self.server.stdout.readline() == "restarted\n"


@pytest.fixture
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    """A backend of this kind."""
    with subprocess.Popen(COMMANDS[request.param], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        place = process.stdout.readline().strip()
        assert place, "no server; what is missing is said above"
        s3 = f"s3://states/fleet?region=us-east-1&endpoint=http://127.0.0.1:{place}"
        yield Backend(f"{s3 if request.param == 's3' else place}&lease=5", process)
        process.stdin.close()


# What a store does with a dead holder is asked of each kind in Rust.
@pytest.mark.parametrize("backend", by_day(COMMANDS, lambda kind, _: kind == "postgresql"), indirect=True)
def test_a_run_is_whole_on_another_backend_although_a_worker_was_killed(
    server: FleetServer, make_fleet: MakeFleet, backend: Backend
) -> None:
    fleet = make_fleet(server)
    fleet.variables |= {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
    # A dead worker is noticed sooner.
    fleet.write(stacks_of(len(NAMES), holds="true"), backend=backend.address, heartbeat="3s")
    lost = fleet.worker("--slots", "3")
    fleet.worker("--slots", "4")
    run = fleet.detached("up")
    until(lambda: len(fleet.marks("held")) == 7, "stacks that both workers are at")
    lost.kill()
    fleet.let_go()

    ends = fleet.results(run)["ends"]

    assert {end["outcome"] for end in ends.values()} == {"done"}
    assert len([end for end in ends.values() if end["attempts"] > 1]) == 3, "those that the lost one was at"
    assert fleet.run("up")["counts"]["unchanged"] == len(NAMES)
    assert fleet.objects() == dict.fromkeys(NAMES, 3)
    fleet.fetch_states(backend.address, "tenant", NAMES)
    fleet.assert_whole()


@pytest.mark.nightly
@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
def test_a_run_outlives_restarts_of_its_backend(server: FleetServer, make_fleet: MakeFleet, backend: Backend) -> None:
    fleet = make_fleet(server)
    fleet.write(stacks_of(len(NAMES), holds="true"), backend=backend.address)
    fleet.worker("--slots", "4")
    run = fleet.detached("up")
    until(lambda: len(fleet.marks("held")) == 4, "stacks at work")
    backend.restart()
    fleet.let_go()
    until(lambda: fleet.begun() >= 6, "further stacks")
    backend.restart()

    ends = fleet.results(run)["ends"].values()

    assert {end["outcome"] for end in ends} <= {"done", "unchanged"}
    assert fleet.objects() == dict.fromkeys(NAMES, 3)
    assert fleet.run("up")["counts"]["unchanged"] == len(NAMES)
    fleet.fetch_states(backend.address, "tenant", NAMES)
    fleet.assert_whole()
