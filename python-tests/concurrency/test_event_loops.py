"""Tasks that are left on a loop when its work is done: `maloko._process.event_loops`."""

# All in Python alone: Python's parser and event loop meet other threads; Node has one thread per program

from __future__ import annotations

import asyncio

from maloko._process.event_loops import end_tasks, new_loop, unfinished_tasks


def left_on_a_loop(deaf_to: int) -> tuple[asyncio.AbstractEventLoop, asyncio.Task[None], list[str]]:
    """A task that ignores this many cancellations, its loop, and the list in which it notes what it does."""
    loop, notes = new_loop(), list[str]()

    async def work() -> None:
        for _ in range(deaf_to):
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                notes.append("went on")
        try:
            await asyncio.Event().wait()
        finally:
            notes.append("cleaned up")

    task = loop.create_task(work())
    loop.run_until_complete(asyncio.sleep(0))
    return loop, task, notes


def test_a_task_that_is_cancelled_cleans_up() -> None:
    loop, task, notes = left_on_a_loop(deaf_to=0)
    end_tasks(loop, unfinished_tasks(loop), 60.0)
    assert task.cancelled()
    assert notes == ["cleaned up"]
    loop.close()


def test_a_task_that_lost_its_cancellation_is_cancelled_again() -> None:
    loop, task, notes = left_on_a_loop(deaf_to=1)
    end_tasks(loop, unfinished_tasks(loop), 0.01, 60.0)
    assert task.cancelled()
    assert notes == ["went on", "cleaned up"]
    loop.close()


def test_a_task_that_does_not_let_itself_be_cancelled_is_not_waited_for_any_longer() -> None:
    loop, task, notes = left_on_a_loop(deaf_to=2)
    end_tasks(loop, unfinished_tasks(loop), 0.01, 0.01)
    assert not task.done()
    assert notes == ["went on", "went on"]
    end_tasks(loop, [task], 60.0)
    assert task.cancelled()
    loop.close()
