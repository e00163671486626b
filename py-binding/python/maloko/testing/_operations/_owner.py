"""Whom a stack belongs to: the kit of its test, as far as a stack has to know it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from maloko.testing._operations._outcome import Run
from maloko.testing._operations._pending import Pending


class Owner(Protocol):
    """What a stack asks of its kit, and tells it; `Kit` explains the members."""

    test: str
    seed: int
    plugins: str
    schemas: list[Path]
    parallel: int | None
    cloud: Path | None
    directory: Path
    pages: Path | None
    over: bool

    @property
    def stacks(self) -> Sequence[Any]: ...
    def around(self, stack: Any, verb: str, once: Callable[[dict[str, Any] | None], Run]) -> Run: ...
    def adopt(self, stack: Any) -> None: ...
    def later(self, pending: Pending) -> Pending: ...
    def failed(self, stack: Any, run: Run, error: BaseException) -> None: ...
    def ran(self, run: Run) -> None: ...
