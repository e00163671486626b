"""The course of a run, by the table that both languages have."""

import json
from pathlib import Path
from typing import Any, cast

import pytest

from maloko.fleet._course._course import Course, Start
from maloko.fleet._wire import BatchEnd, CourseState, Plan, StackEnd

TABLE = Path(__file__).parents[2] / "conformance" / "fleets" / "course.json"
CASES: list[dict[str, Any]] = json.loads(TABLE.read_text(encoding="utf-8"))["cases"]


def plan_of(case: dict[str, Any]) -> Plan:
    listed = [
        {**stack, "id": f"{stack['id']}{number}"} if "times" in stack else stack
        for stack in case["stacks"]
        for number in range(stack.get("times", 1))
    ]
    return cast(
        "Plan",
        {
            "stacks": [
                {"needs": [], "labels": {}, "wave": 0, "queue": "default", "language": "python", **stack}
                for stack in listed
            ],
            "waves": [{"pause": 0.0, "unlessFailed": None, **wave} for wave in case.get("waves", [{"name": "all"}])],
            "limits": {"atATime": None, "each": {}, "startsPerSecond": {}, **case.get("limits", {})},
            "retry": case.get("retry", {"provider": 3, "firstWait": 2.0, "longestWait": 60.0}),
            "stopAfter": case.get("stopAfter"),
        },
    )


def end_of(name: str, end: str | dict[str, Any], seconds: float) -> StackEnd:
    known = {"outcome": end} if isinstance(end, str) else end
    return cast(
        "StackEnd", {"id": name, "changes": {}, "reason": "", "text": "", "attempts": 1, "seconds": seconds, **known}
    )


def batch_end_of(names: list[str], told: dict[str, Any], ends: dict[str, StackEnd]) -> BatchEnd | None:
    """A batch whose worker tells of its first stacks, and maybe of one more that was interrupted."""
    last = [told[name] for name in names if name in told][-1]
    if last == "lost":
        return None
    interrupted = last.get("interrupted") if isinstance(last, dict) else None
    ended = [ends[name] for name in names if name in ends]
    return {"ends": ended if interrupted is None else ended[:-1], "interrupted": interrupted}


def state_after(plan: Plan, after: dict[str, Any], now: float) -> CourseState:
    """The state of a run whose first stacks have ended, each after so many seconds."""
    ended = plan["stacks"][: after["stacks"]]
    nothing: dict[str, Any] = {"tries": {}, "awaits": {}, "changes": {}, "later": [], "turns": [], "givenUp": []}
    return cast(
        "CourseState",
        {
            **nothing,
            "ends": [end_of(stack["id"], "done", after["seconds"]) for stack in ended],
            "nextStarts": [],
            "wave": 0,
            "waveBegins": now,
            "paused": False,
            "stopped": "",
        },
    )


def in_words(end: StackEnd) -> str:
    reason = f" ({end['reason']})" if end["reason"] else ""
    changes = ", ".join(f"{op} {count}" for op, count in sorted(end["changes"].items()))
    text = f": {end['text']}" if end["text"] else ""
    return f"{end['id']} {end['outcome']}{reason}{text}" + (f" [{changes}]" if changes else "")


class Told:
    """A course that is told what happens, and what it does then."""

    def __init__(self, plan: Plan, begins_at: float, *, anew: bool, after: dict[str, Any] | None = None) -> None:
        self._plan = plan
        self._anew = anew
        self._batches: dict[str, list[str]] = {}
        """Those that are at work, each by its first stack."""
        self.course = Course(plan, None if after is None else state_after(plan, after, begins_at), begins_at)

    def happens(self, step: dict[str, Any]) -> tuple[list[str], float | None]:
        """Gives what begins, and how long nothing else does."""
        now = step["at"]
        if step.get("pause") or step.get("resume"):
            self.course.paused = not step.get("resume")
        self._end(step, now)
        if step.get("cancel"):
            self.course.stop("the run was cancelled", "cancelled", now)
        begun: list[str] = []
        while True:
            self._go_on_anew(now)
            launches = self.course.launches(now)
            begun += [self._begun(batch) for batch in launches]
            self._go_on_anew(now)
            assert sum(self.course.counts().values()) == len(self._plan["stacks"])
            wait = self.course.wait(now)
            if wait != 0:
                return begun, wait

    def _begun(self, batch: list[Start]) -> str:
        names = [stack["id"] for stack, _ in batch]
        if len(batch) > 1:
            assert all(number == 1 for _, number in batch)
            self._batches[names[0]] = names
            return " + ".join(names)
        return names[0] if batch[0][1] == 1 else f"{names[0]}#{batch[0][1]}"

    def _end(self, step: dict[str, Any], now: float) -> None:
        told: dict[str, Any] = step.get("ends", {})
        if told == "all":
            told = {it["id"]: "done" for it in self._plan["stacks"] if it["id"] in self.course.running}
        ends = {name: end_of(name, end, step.get("seconds", 1.0)) for name, end in told.items()}
        for name in ends:
            if names := self._batches.pop(name, None):
                self.course.batch_ended(names, batch_end_of(names, told, ends), now)
            elif name in self.course.running:
                self.course.ended(ends[name], now)

    def _go_on_anew(self, now: float) -> None:
        if self._anew and self.course.is_idle:
            state = cast("CourseState", json.loads(json.dumps(self.course.state())))
            self.course = Course(self._plan, state, now)


@pytest.mark.parametrize("case", [pytest.param(case, id=case["about"].replace(" ", "-")) for case in CASES])
@pytest.mark.parametrize("anew", [False, True])
def test_a_run_goes_as_its_case_says(case: dict[str, Any], anew: bool) -> None:
    told = Told(plan_of(case), case["steps"][0]["at"], anew=anew, after=case.get("after"))

    for step in case["steps"]:
        begun, wait = told.happens(step)
        expected = step.get("begins", [])
        assert (len(begun) if isinstance(expected, int) else begun) == expected, step
        assert wait == step.get("waits"), step
        if "retries" in step:
            assert {name: number for name, _, number in told.course.retries()} == step["retries"], step

    ends = [in_words(end) for end in told.course.ends.values()][case.get("after", {}).get("stacks", 0) :]
    if isinstance(case["ends"], int):
        assert len(ends) == case["ends"]
        assert all(end.endswith(" done") for end in ends)
    else:
        assert ends == case["ends"]
    assert told.course.is_over
    assert told.course.stopped == case.get("stopped", "")
