"""Calls from other threads onto the program's event loop, which may end before it begins them."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from typing import Any

from maloko._run.calls_on_loop import CallsOnLoop
from maloko._run.host import Host


class Response:
    """What a transform answers."""

    def SerializeToString(self) -> bytes:  # noqa: N802  (protobuf's name)
        return b"answered"


async def transform(_request: bytes) -> Response:
    return Response()


def test_a_callback_that_comes_while_the_programs_loop_ends_is_answered() -> None:
    host, loop = Host(), asyncio.new_event_loop()
    host.loop = loop
    host.callbacks["token"] = transform
    answers: list[Any] = []
    # It has been handed to the loop, which ends before it comes to it.
    worker = threading.Thread(target=host.callback, args=("token", b"", answers.append))
    worker.start()
    worker.join()
    assert answers == []
    host.program_ended()
    assert answers == [b"answered"]
    # Delete hooks are called after the program.
    host.callback("token", b"", answers.append)
    assert answers == [b"answered"] * 2
    loop.close()


def test_a_loop_begins_a_call_once_and_none_after_its_end() -> None:
    calls, loop = CallsOnLoop(), asyncio.new_event_loop()
    begun: list[int] = []

    async def call() -> None:
        begun.append(len(begun))

    assert calls.begin(loop, contextvars.copy_context(), call)
    loop.run_until_complete(asyncio.sleep(0))
    loop.run_until_complete(asyncio.sleep(0))
    assert begun == [0]
    assert calls.begin(loop, contextvars.copy_context(), call)
    assert len(calls.end()) == 1
    assert not calls.begin(loop, contextvars.copy_context(), call)
    loop.run_until_complete(asyncio.sleep(0))
    loop.run_until_complete(asyncio.sleep(0))
    assert begun == [0]
    loop.close()
