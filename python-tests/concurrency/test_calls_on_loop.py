"""Calls from other threads onto the program's event loop, which may end before it has answered them."""

# All in Python alone: Python's parser and event loop meet other threads; Node has one thread per program

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from typing import Any

import pytest

from maloko._maloko import Cause
from maloko._run import calls_on_loop
from maloko._run.calls_on_loop import CallsOnLoop
from maloko._run.host import Host


class Response:
    """What a transform answers."""

    def SerializeToString(self) -> bytes:  # noqa: N802  (protobuf's name)
        return b"answered"


class Program:
    """A program's loop, and the answers to its transforms."""

    def __init__(self, *waits: Callable[[], Any]) -> None:
        self.host, self.loop = Host(), asyncio.new_event_loop()
        self.host.loop = self.loop
        self.answers: list[Any] = []

        async def transform(_request: bytes) -> Response:
            for wait in waits:
                await wait()
            return Response()

        self.host.callbacks["token"] = transform

    def is_called_back(self) -> None:
        """The engine calls, from one of its threads."""
        worker = threading.Thread(target=self.host.callback, args=("token", b"", self.answers.append))
        worker.start()
        worker.join()

    def turns(self, times: int = 1) -> None:
        """The loop does what there is to be done just now."""
        for _ in range(times):
            self.loop.run_until_complete(asyncio.sleep(0))


@pytest.fixture(autouse=True)
def no_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls_on_loop, "GRACE_SECONDS", 0.01)


def test_a_callback_that_the_programs_loop_has_not_begun_is_answered() -> None:
    program = Program()
    program.is_called_back()
    assert program.answers == []
    program.host.program_ended()
    assert program.answers == [b"answered"]
    # Delete hooks are called after the program.
    program.is_called_back()
    assert program.answers == [b"answered"] * 2


def test_a_callback_that_goes_on_at_the_programs_end_is_answered() -> None:
    ready = asyncio.Event()
    program = Program(ready.wait)
    program.is_called_back()
    program.turns(3)
    assert program.answers == []
    program.loop.call_soon(ready.set)
    program.host.program_ended()
    assert program.answers == [b"answered"]


def test_a_callback_that_never_ends_is_cancelled_when_the_program_has_ended() -> None:
    program = Program(asyncio.Event().wait)
    program.is_called_back()
    program.turns(3)
    program.host.program_ended()
    [failed] = program.answers
    assert failed.cause == Cause.Raised
    assert "CancelledError" in failed.message


def test_a_loop_begins_a_call_once_and_none_after_its_end() -> None:
    calls, loop = CallsOnLoop(), asyncio.new_event_loop()
    begun: list[int] = []

    async def call() -> None:
        begun.append(len(begun))

    assert calls.begin(loop, contextvars.copy_context(), call)
    calls.end(loop)
    assert begun == [0]
    assert not calls.begin(loop, contextvars.copy_context(), call)
    loop.run_until_complete(asyncio.sleep(0))
    assert begun == [0]
    loop.close()
