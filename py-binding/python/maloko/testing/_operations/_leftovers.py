"""What a stack leaves behind: its objects, and creates whose outcome is unknown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from maloko.testing._operations._faults import Fault
from maloko.testing._operations._ledger import Ledger

FORGET_OPTION = "--maloko-forget-unresolved"
"""Says of which unresolved creates it is known what became of their objects, by their keys."""


class Leaving(Protocol):
    """What a teardown needs of a stack; `Stack` explains the members."""

    name: str
    _ledger: Ledger | None
    _faults: list[Fault]

    def _do(self, task: str, **members: Any) -> tuple[Any, Any]: ...


@dataclass
class Teardown:
    """The outcome of an attempt to destroy what a stack has; lists of texts."""

    deleted: list[str]
    """What was there, or was found, and is gone now."""
    forgotten: list[str]
    """Unresolved creates of which the user says that it is known what became of their objects."""
    problems: list[str]
    """What could not be deleted, or may be left."""


def tear_down(stack: Leaving, settled: Sequence[str] = ()) -> Teardown:
    """Destroys what a stack has; raises nothing, so that other stacks are torn down all the same.

    :param settled: the keys of unresolved creates that are forgotten, or `all`.
    """
    stack._faults.clear()
    try:
        done, _ = stack._do(
            "tear_down",
            name=stack.name,
            ledger=None if stack._ledger is None else str(stack._ledger.directory),
            settled=list(settled),
            command=f"pytest --maloko-sweep '{FORGET_OPTION}={{keys}}'",
        )
    except Exception as error:
        return Teardown([], [], [f"the stack '{stack.name}' could not be torn down: {error}"])
    return Teardown(**done)
