"""A long run whose workers are killed again and again; with fewer stacks and kills: MALOKO_FLEET_STACKS, _KILLS."""

import os

import pytest
from conftest import MakeFleet
from fleet_kit import FleetServer, until

STACKS = int(os.environ.get("MALOKO_FLEET_STACKS", "1200"))
"""More than a workflow has in one history."""
KILLS = int(os.environ.get("MALOKO_FLEET_KILLS", "24"))
FILES = 20
MAX_SECONDS = 600.0
"""Until so many further stacks have begun as there are between two kills."""


@pytest.mark.nightly
def test_more_than_a_thousand_stacks_are_whole_although_workers_are_killed_all_the_time(
    own_server: FleetServer, make_fleet: MakeFleet
) -> None:
    fleet = make_fleet(own_server)
    rows = [{"tenant": f"t{number}"} for number in range(STACKS)]
    stacks = {"project": "tenant", "program": "tenant.py:tenant", "stack": "{tenant}", "for": rows}
    fleet.write([{**stacks, "config": {"files": str(FILES), "plan": "gold"}}])
    workers = [fleet.worker("--slots", "4") for _ in range(4)]
    run = fleet.detached("up")
    for number in range(1, KILLS + 1):
        begun = STACKS * number // (KILLS + 1)
        until(lambda begun=begun: fleet.begun() >= begun, f"{begun} stacks to begin", MAX_SECONDS)
        workers.pop(0).kill()
        workers.append(fleet.worker("--slots", "4"))

    ends = fleet.results(run)["ends"].values()

    assert {end["outcome"] for end in ends} <= {"done", "unchanged"}
    assert any(end["attempts"] > 1 for end in ends), "a kill has hit a stack"
    assert fleet.objects() == {row["tenant"]: FILES for row in rows}
    fleet.assert_whole()
    assert fleet.run("up")["counts"]["unchanged"] == STACKS
