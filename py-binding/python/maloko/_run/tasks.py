"""The tasks that a program itself begins: what is raised in them fails the program, awaited or not.

Plain asyncio only prints such an error when the task is collected, if ever: the run would go on to delete what the task
did not come to register.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from typing import Any

from maloko._process.tracebacks import is_hidden


class ProgramTasks:
    """The tasks of a program's event loop whose code is the program's own."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        # A loop holds its tasks weakly.
        self._running: set[asyncio.Future[Any]] = set()
        self._failed: list[asyncio.Future[Any]] = []
        loop.set_task_factory(self._make)

    def _make(
        self,
        loop: asyncio.AbstractEventLoop,
        coro: Coroutine[Any, Any, Any] | Generator[Any, None, Any],
        **options: Any,
    ) -> asyncio.Future[Any]:
        task: asyncio.Task[Any] = asyncio.Task(coro, loop=loop, **options)
        code = getattr(coro, "cr_code", None)
        if code is not None and not is_hidden(code.co_filename):
            self._running.add(task)
            task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Future[Any]) -> None:
        self._running.discard(task)
        if _is_unnoticed(task):
            self._failed.append(task)

    def error(self) -> BaseException | None:
        """The first error that nobody has asked its task for; from then on somebody has."""
        for task in self._failed:
            if _is_unnoticed(task):
                return task.exception()
        return None

    def unfinished(self) -> list[str]:
        """The tasks that still run, each with the place of its code."""
        return sorted(_place(task) for task in self._running if isinstance(task, asyncio.Task))


def _is_unnoticed(task: asyncio.Future[Any]) -> bool:
    # What asyncio itself goes by for its message "exception was never retrieved".
    return bool(getattr(task, "_log_traceback", False))


def _place(task: asyncio.Task[Any]) -> str:
    code = getattr(task.get_coro(), "cr_code", None)
    return task.get_name() if code is None else f"{code.co_name} ({code.co_filename}:{code.co_firstlineno})"
