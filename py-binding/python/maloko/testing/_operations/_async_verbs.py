"""The verbs of a stack, to be awaited."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from maloko.testing._operations._pending import Pending

if TYPE_CHECKING:
    from maloko.testing._operations._stack import Stack


class AsyncVerbs:
    """The verbs of a stack, to be awaited. One that is not awaited fails the test."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack

    def _later(self, verb: str, work: Callable[[], Any]) -> Pending:
        frame = sys._getframe(2)
        place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
        return self._stack.kit.later(Pending(f"{verb}() of {place}", work))

    def preview(self, **options: Any) -> Pending:
        """As `Stack.preview`."""
        return self._later("preview", lambda: self._stack.preview(**options))

    def up(self, *, settle: bool = True, **options: Any) -> Pending:
        """As `Stack.up`."""
        return self._later("up", lambda: self._stack.up(settle=settle, **options))

    def refresh(self, **options: Any) -> Pending:
        """As `Stack.refresh`."""
        return self._later("refresh", lambda: self._stack.refresh(**options))

    def destroy(self, **options: Any) -> Pending:
        """As `Stack.destroy`."""
        return self._later("destroy", lambda: self._stack.destroy(**options))

    def import_(self, name: str, id_: str) -> Pending:
        """As `Stack.import_`."""
        return self._later("import_", lambda: self._stack.import_(name, id_))

    def run(self, verb: str, **options: Any) -> Pending:
        """As `Stack.run`."""
        return self._later("run", lambda: self._stack.run(verb, **options))

    def imports_cleanly(self, name: str, *, ignore: list[str] | tuple[str, ...] = ()) -> Pending:
        """As `Stack.imports_cleanly`."""
        return self._later("imports_cleanly", lambda: self._stack.imports_cleanly(name, ignore=ignore))
