"""Runs of the library while nobody answers for them."""

import asyncio
import threading
from datetime import datetime, timezone
from types import SimpleNamespace
from typing import Any

import pytest
from temporalio.client import WorkflowQueryFailedError
from temporalio.service import RPCError, RPCStatusCode

from maloko import fleet
from maloko.fleet import FleetError, Run, _run

END = {
    "id": "tenant/t0",
    "outcome": "done",
    "changes": {"create": 1},
    "reason": "",
    "text": "",
    "attempts": 1,
    "seconds": 1.0,
}
COUNTS = {
    "done": 1,
    "unchanged": 0,
    "running": 0,
    "retrying": 0,
    "failed": 0,
    "skipped": 0,
    "cancelled": 0,
    "waiting": 0,
}
RESULT = {"fleet": "f", "verb": "up", "outcome": "done", "stopped": "", "seconds": 1.0, "counts": COUNTS, "ends": [END]}
CLOSED = datetime(2026, 1, 2, tzinfo=timezone.utc)
AWAY = RPCError("connection refused", RPCStatusCode.UNAVAILABLE, b"")
NOBODY = RPCError("no poller seen for task queue recently", RPCStatusCode.FAILED_PRECONDITION, b"")
UNKNOWN = RPCError("workflow not found", RPCStatusCode.NOT_FOUND, b"")
OTHER_KEY = WorkflowQueryFailedError("the run is encrypted, and MALOKO_FLEET_KEY is not set")


class Handle:
    """A run that has one stack. Each question is answered by what is next; once all is told, by what is so.

    :param told: errors that are raised first
    """

    id = "f-up-1"
    run_id = None
    # One that was cancelled leaves no result: its workers answer.
    status = "CANCELED"

    def __init__(self, *told: Exception) -> None:
        self._told = list(told)
        self.asked = 0

    def _next(self) -> None:
        self.asked += 1
        if self._told:
            raise self._told.pop(0)

    async def query(self, _: str, args: tuple[int, int], **__: Any) -> list[dict[str, Any]]:
        self._next()
        return [END][args[0] :]

    async def result(self, **_: Any) -> dict[str, Any]:
        self._next()
        return RESULT

    async def describe(self, **_: Any) -> Any:
        pending = SimpleNamespace(pending_workflow_task=SimpleNamespace(attempt=1), pending_activities=[])
        return SimpleNamespace(status=SimpleNamespace(name=self.status), raw_description=pending, close_time=CLOSED)


def run_of(*told: Exception) -> tuple[Run, Handle]:
    handle = Handle(*told)
    made: Any = Run
    return made(None, handle), handle


@pytest.fixture(autouse=True)
def _without_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_run, "_AGAIN_SECONDS", 0.0)


def test_ends_and_the_result_wait_for_whoever_answers() -> None:
    run, handle = run_of(NOBODY, AWAY, OTHER_KEY)
    assert [end.stack for end in run.ends()] == ["tenant/t0"]
    assert handle.asked == 6

    run, handle = run_of(AWAY, NOBODY)
    assert run.result().outcome == "done"
    assert handle.asked == 3


def test_what_a_run_came_to_is_told_without_its_workers() -> None:
    run, handle = run_of()
    handle.status = "COMPLETED"
    handle.query = None  # type: ignore[method-assign,assignment]

    told = run.progress()

    assert [end.stack for end in run.ends()] == ["tenant/t0"]
    assert (told.state, told.outcome, told.stacks, told.counts["done"]) == ("ended", "done", 1, 1)
    assert (told.seconds, told.began) == (1.0, CLOSED.timestamp() - 1)
    assert (told.wave, told.waves, told.failures_in_all, told.at_work) == (1, 1, 0, [])


def test_a_run_that_is_not_there_is_told_without_the_words_of_others() -> None:
    for ask in (lambda run: next(iter(run.ends())), Run.result, Run.has_ended):
        run, _ = run_of(UNKNOWN)
        if ask is Run.has_ended:
            run._handle.describe = run._handle.result  # type: ignore[method-assign,assignment]
        with pytest.raises(FleetError, match="the server knows no run 'f-up-1'") as told:
            ask(run)
        assert told.value.__cause__ is None
        assert told.value.__suppress_context__


# In Python alone: Node has one kind of loop for it
def test_ends_are_for_both_kinds_of_loops() -> None:
    async def ends_of(run: Run, *, by_name: bool) -> list[str]:
        return [end.stack async for end in (run.ends_async() if by_name else run.ends())]

    for by_name in (False, True):
        run, _ = run_of(NOBODY)
        assert asyncio.run(ends_of(run, by_name=by_name)) == ["tenant/t0"]


# In Python alone: signals of Node reach the listeners of any thread
def test_a_worker_beside_the_main_thread_says_what_to_await() -> None:
    said: list[str] = []

    def work() -> None:
        try:
            fleet.Worker("fleet.yaml").run()
        except FleetError as error:
            said.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

    assert said == ["`Worker.run` listens for signals, which only the main thread can: await `run_async` here"]
