"""Work that is done when it is awaited, on whichever event loop that is."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Generator
from typing import Any


class Pending:
    """To be awaited, once."""

    def __init__(self, what: str, work: Callable[[], Any]) -> None:
        self.what = what
        self.awaited = False
        self._work = work

    def __await__(self) -> Generator[Any, None, Any]:
        self.awaited = True
        return _elsewhere(self._work).__await__()

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{self.what} was not awaited, so that it has no '{name}': write `await` before it")

    def __eq__(self, other: object) -> bool:
        raise TypeError(f"{self.what} was not awaited, so that it cannot be compared: write `await` before it")

    __hash__ = None  # type: ignore[assignment]


async def _elsewhere(work: Callable[[], Any]) -> Any:
    """Runs on another thread, so that the event loop of the test goes on."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        trio = sys.modules.get("trio")
        if trio is None:
            raise
        return await trio.to_thread.run_sync(work)
    return await asyncio.to_thread(work)
