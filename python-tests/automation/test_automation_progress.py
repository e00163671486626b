"""How far an operation has come, as those are told who do not want to know what happens in it."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from automation_kit import Echo, Thing, new_stack, placed, urn
from pulumi.dynamic import CreateResult

from maloko import automation as auto

NEVER = 3600.0
"""Seconds after which no test goes on: what is told then is told at the end alone."""


class Held(Echo):
    """Creates when it is told to."""

    def __init__(self) -> None:
        self.begun, self.go_on = threading.Event(), threading.Event()

    def create(self, props: dict[str, Any]) -> CreateResult:
        self.begun.set()
        assert self.go_on.wait(60)
        return super().create(props)


class Failing(Echo):
    def create(self, _props: dict[str, Any]) -> CreateResult:
        raise OSError("no room")


def two(held: Held) -> Callable[[], None]:
    def program() -> None:
        Thing(Echo(), "quick", {"text": "a"})
        Thing(held, "slow", {"text": "a"})

    return program


def rises(reports: list[auto.Progress]) -> bool:
    numbers = [report.reports for report in reports]
    return numbers == sorted(set(numbers))


def test_an_operation_tells_how_far_it_has_come(tmp_path: Path) -> None:
    held = Held()
    stack = new_stack(tmp_path, two(held))
    reports: list[auto.Progress] = []

    def take(report: auto.Progress) -> None:
        reports.append(report)
        # The quick one and the stack are done, and the other one goes on.
        if report.done == 2 and report.slowest:
            held.go_on.set()

    result = stack.up(on_progress=take, progress_every=0.01)
    during = next(report for report in reports if report.done == 2 and report.slowest)
    assert (during.total, during.failed) == (3, 0)
    (call,) = during.slowest
    assert (call.urn, call.method, call.seconds > 0) == (urn("slow"), "create", True)
    last = reports[-1]
    assert (last.done, last.total, last.failed, last.slowest) == (3, 3, 0, ())
    assert last.done == sum(result.summary.resource_changes.values())
    assert rises(reports)


def test_how_far_an_operation_has_come_is_told_to_whoever_asks(tmp_path: Path) -> None:
    held = Held()
    stack = new_stack(tmp_path, two(held))
    assert stack.progress() is None
    running = threading.Thread(target=stack.up)
    running.start()
    assert held.begun.wait(60)
    # Any object of the stack knows it.
    other = auto.select_stack("dev", "project", two(held), opts=placed(tmp_path))
    first, second = stack.progress(), other.progress()
    held.go_on.set()
    running.join()
    assert first is not None
    assert second is not None
    # The quick one may be made still.
    assert (urn("slow"), "create") in [(call.urn, call.method) for call in first.slowest]
    assert (first.total, second.total, rises([first, second])) == (3, 3, True)
    assert stack.progress() is None


def test_every_operation_tells_it_at_its_end_however_rarely_it_is_told(tmp_path: Path) -> None:
    stack = new_stack(tmp_path)
    reports: list[auto.Progress] = []
    given: dict[str, Any] = {"on_progress": reports.append, "progress_every": NEVER}
    for operation in (
        stack.preview,
        stack.up,
        stack.preview_refresh,
        stack.refresh,
        stack.preview_destroy,
        stack.destroy,
    ):
        reports.clear()
        operation(**given)
        assert [(it.done, it.total, it.failed, it.reports, it.slowest) for it in reports] == [(2, 2, 0, 1, ())], (
            operation
        )
    reports.clear()
    resource: Any = {"type": "pulumi-python:dynamic:Resource", "name": "a", "id": "there"}
    # Beside the stack, which it makes.
    with pytest.raises(auto.CommandError):
        stack.import_resources(resources=[resource], **given)
    assert [(it.done, it.total, it.failed) for it in reports] == [(1, 2, 1)]


def test_what_fails_is_counted_and_what_waits_for_its_turn_is_told(tmp_path: Path) -> None:
    held = Held()
    stack = new_stack(tmp_path, two(held))
    running = threading.Thread(target=stack.up)
    running.start()
    assert held.begun.wait(60)
    reports: list[auto.Progress] = []

    def take(report: auto.Progress) -> None:
        reports.append(report)
        held.go_on.set()

    other = auto.select_stack("dev", "project", lambda: void(Thing(Failing(), "b")), opts=placed(tmp_path))
    with pytest.raises(auto.CommandError):
        other.up(lock_timeout="1m", on_progress=take, progress_every=0.01)
    running.join()
    # It had not begun.
    assert (reports[0].done, reports[0].total) == (0, 0)
    assert (reports[-1].done, reports[-1].total, reports[-1].failed) == (1, 2, 1)


def void(_value: object) -> None:
    pass


def test_what_a_listener_of_progress_raises_comes_at_the_end(tmp_path: Path) -> None:
    stack = new_stack(tmp_path)

    def take(_report: auto.Progress) -> None:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        stack.up(on_progress=take, progress_every=NEVER)
    assert stack.outputs()["text"].value == "none"
    for never in (0, -1, float("inf")):
        with pytest.raises(ValueError, match="progress_every"):
            stack.up(on_progress=take, progress_every=never)


_LOCAL = """
import os
import time
from pulumi.dynamic import CreateResult, Resource, ResourceProvider

class Provider(ResourceProvider):
    def create(self, props):
        while not os.path.exists(props["file"]):
            time.sleep(0.01)
        return CreateResult("made", props)

class Thing(Resource):
    pass

Thing(Provider(), "slow", {"file": os.path.abspath("go-on")})
"""


@pytest.mark.parametrize("isolated", [False, True])
def test_a_program_in_a_process_of_its_own_tells_how_far_it_is(tmp_path: Path, isolated: bool) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "Pulumi.yaml").write_text("name: project\nruntime: python\n")
    (work / "__main__.py").write_text(_LOCAL)
    stack = auto.create_stack("dev", work_dir=str(work), opts=placed(tmp_path, work_dir=str(work)))
    reports: list[auto.Progress] = []
    asked: list[auto.Progress | None] = []

    def take(report: auto.Progress) -> None:
        reports.append(report)
        if report.slowest:
            asked.append(stack.progress())
            (work / "go-on").touch()

    stack.up(on_progress=take, progress_every=0.01, isolated=isolated)
    during = next(report for report in reports if report.slowest)
    assert [(call.urn.rsplit("::", 1)[-1], call.method) for call in during.slowest] == [("slow", "create")]
    # What was told last is what is there to be asked for.
    assert asked[0] == during
    assert (reports[-1].done, reports[-1].total, reports[-1].slowest) == (2, 2, ())
    assert rises(reports)
