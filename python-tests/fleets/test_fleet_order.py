"""Generated fleets whose stacks need each other: nothing begins early, and what needs what failed is skipped."""

import random
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import pytest
from conftest import MakeFleet
from fleet_kit import FleetServer
from hypothesis import given, settings
from hypothesis import strategies as st

from maloko.fleet._course._course import Course
from maloko.fleet._wire import Plan, StackEnd

MOST = 50
"""Stacks of a fleet."""
LEAST = 20
"""Stacks of a fleet that runs; some of them are skipped."""


@dataclass(frozen=True)
class Graph:
    """Stacks by number, each with those before it that it needs, and which of them fail where they begin."""

    needs: list[list[int]]
    failing: frozenset[int]

    @cached_property
    def outcomes(self) -> dict[str, str]:
        """How the run ends for each stack."""
        found: dict[str, str] = {}
        for number, needs in enumerate(self.needs):
            stands_on = [found[f"s{it}"] for it in needs]
            alone = "failed" if number in self.failing else "done"
            found[f"s{number}"] = alone if all(it == "done" for it in stands_on) else "skipped"
        return found


def graph_of(draw: random.Random) -> Graph:
    count = draw.randint(1, MOST)
    needs = [draw.sample(range(number), draw.randint(0, min(3, number))) for number in range(count)]
    return Graph(needs, frozenset(it for it in range(count) if draw.random() < 0.1))


def plan_of(graph: Graph, at_a_time: int) -> Plan:
    stacks = [
        {
            "id": f"s{number}",
            "needs": [f"s{it}" for it in needs],
            "labels": {},
            "wave": 0,
            "queue": "default",
            "language": "python",
        }
        for number, needs in enumerate(graph.needs)
    ]
    return cast(
        "Plan",
        {
            "stacks": stacks,
            "waves": [{"name": "all", "pause": 0.0, "unlessFailed": None}],
            "limits": {"atATime": at_a_time, "each": {}, "startsPerSecond": {}},
            "retry": {"provider": 3, "firstWait": 2.0, "longestWait": 60.0},
            "stopAfter": None,
        },
    )


def end_of(name: str, outcome: str) -> StackEnd:
    reason = "program" if outcome == "failed" else ""
    known = {"changes": {}, "text": "", "attempts": 1, "seconds": 0.02, "reason": reason}
    return cast("StackEnd", {"id": name, "outcome": outcome, **known})


def end_batch(course: Course, names: list[str], graph: Graph, draw: random.Random, now: float) -> list[str]:
    """A batch ends with its first that fails, or earlier; gives those that may have begun and have not ended."""
    if draw.random() < 0.2:
        course.batch_ended(names, None, now)
        return names
    ended = names[: draw.randint(0, len(names))]
    outcomes = [graph.outcomes[name] for name in ended]
    failed = next((at for at, outcome in enumerate(outcomes) if outcome == "failed"), None)
    if failed is not None:
        ended = ended[: failed + 1]
    interrupted = [] if failed is not None or draw.random() < 0.5 else names[len(ended) :][:1]
    ends = [end_of(name, graph.outcomes[name]) for name in ended]
    course.batch_ended(names, {"ends": ends, "interrupted": {} if interrupted else None}, now)
    return interrupted


@given(st.randoms(use_true_random=False))
@settings(deadline=None)
def test_the_course_begins_nothing_early_and_skips_what_needs_what_failed(draw: random.Random) -> None:
    graph, at_a_time = graph_of(draw), draw.randint(1, 8)
    course = Course(plan_of(graph, at_a_time), None, 0.0)
    begun: set[str] = set()
    at_work: list[list[str]] = []
    may_have_begun: dict[str, int] = {}
    """By stack, the number of a start that nobody knows the end of."""
    now = 0.0
    while not course.is_over:
        for batch in course.launches(now):
            for stack, number in batch:
                assert all(course.ends[need]["outcome"] == "done" for need in stack["needs"])
                assert number > may_have_begun.get(stack["id"], 0)
                begun.add(stack["id"])
            at_work.append([stack["id"] for stack, _ in batch])
        assert len(at_work) <= at_a_time
        assert course.running == {name for names in at_work for name in names}
        if course.is_over:
            break
        assert at_work, "the course stands still"
        names = at_work.pop(draw.randrange(len(at_work)))
        now += 0.01
        if len(names) == 1:
            course.ended(end_of(names[0], graph.outcomes[names[0]]), now)
        else:
            may_have_begun.update(dict.fromkeys(end_batch(course, names, graph, draw, now), 1))

    assert {name: end["outcome"] for name, end in course.ends.items()} == graph.outcomes
    assert begun == {name for name, outcome in graph.outcomes.items() if outcome != "skipped"}


def stack_of(number: int, needs: list[int], fails: str) -> dict[str, Any]:
    config = {"fails": fails, "files": "2"}
    ids = [f"s{it}" for it in needs]
    return {"project": "tenant", "program": "tenant.py:tenant", "stack": f"s{number}", "needs": ids, "config": config}


def outcomes_of(result: dict[str, Any]) -> dict[str, str]:
    return {end["id"].removeprefix("tenant/"): end["outcome"] for end in result["ends"].values()}


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(3))
def test_a_run_goes_in_order_and_retry_does_just_the_rest(
    server: FleetServer, make_fleet: MakeFleet, seed: int
) -> None:
    draw = random.Random(seed)
    drawn = (graph_of(draw) for _ in range(1000))
    graph = next(it for it in drawn if len(it.needs) >= LEAST and "skipped" in it.outcomes.values())
    fleet = make_fleet(server)

    def write(failing: frozenset[int]) -> None:
        stacks = [stack_of(it, needs, "always" if it in failing else "") for it, needs in enumerate(graph.needs)]
        fleet.write(stacks, retry={"provider": 1})

    write(graph.failing)
    for _ in range(2):
        fleet.worker("--slots", "4")

    result = fleet.run("up", code=1)

    assert outcomes_of(result) == graph.outcomes
    made = {
        folder.name: sorted(file.stat().st_mtime_ns for file in folder.iterdir())
        for folder in (fleet.world / "objects").iterdir()
    }
    for number, needs in enumerate(graph.needs):
        if graph.outcomes[f"s{number}"] == "done":
            assert all(made[f"s{it}"][-1] <= made[f"s{number}"][0] for it in needs), (number, needs)
    rest = {name for name, outcome in graph.outcomes.items() if outcome != "done"}
    write(frozenset())
    again = fleet.run("retry", result["run"])
    assert outcomes_of(again) == dict.fromkeys(rest, "done")
    assert fleet.objects() == dict.fromkeys(graph.outcomes, 2)
    fleet.assert_whole()
