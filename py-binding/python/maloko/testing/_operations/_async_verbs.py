"""The verbs of a stack, to be awaited."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Protocol

from maloko.testing._operations._pending import Pending


class Verbs(Protocol):
    """The verbs themselves, as a stack has them."""

    def preview(self, **options: Any) -> Any: ...
    def up(self, *, settle: bool, **options: Any) -> Any: ...
    def refresh(self, **options: Any) -> Any: ...
    def destroy(self, **options: Any) -> Any: ...
    def import_(self, name: str, id_: str) -> Any: ...
    def run(self, verb: str, **options: Any) -> Any: ...
    def imports_cleanly(self, name: str, *, ignore: list[str] | tuple[str, ...]) -> Any: ...


class AsyncVerbs:
    """The verbs of a stack, to be awaited. One that is not awaited fails the test."""

    def __init__(self, verbs: Verbs, take: Callable[[Pending], Pending]) -> None:
        """:param take: is told of each one, to know at the end of the test whether it was awaited."""
        self._verbs = verbs
        self._take = take

    def _later(self, verb: str, work: Callable[[], Any]) -> Pending:
        frame = sys._getframe(2)
        place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
        return self._take(Pending(f"{verb}() of {place}", work))

    def preview(self, **options: Any) -> Pending:
        """As `Stack.preview`."""
        return self._later("preview", lambda: self._verbs.preview(**options))

    def up(self, *, settle: bool = True, **options: Any) -> Pending:
        """As `Stack.up`."""
        return self._later("up", lambda: self._verbs.up(settle=settle, **options))

    def refresh(self, **options: Any) -> Pending:
        """As `Stack.refresh`."""
        return self._later("refresh", lambda: self._verbs.refresh(**options))

    def destroy(self, **options: Any) -> Pending:
        """As `Stack.destroy`."""
        return self._later("destroy", lambda: self._verbs.destroy(**options))

    def import_(self, name: str, id_: str) -> Pending:
        """As `Stack.import_`."""
        return self._later("import_", lambda: self._verbs.import_(name, id_))

    def run(self, verb: str, **options: Any) -> Pending:
        """As `Stack.run`."""
        return self._later("run", lambda: self._verbs.run(verb, **options))

    def imports_cleanly(self, name: str, *, ignore: list[str] | tuple[str, ...] = ()) -> Pending:
        """As `Stack.imports_cleanly`."""
        return self._later("imports_cleanly", lambda: self._verbs.imports_cleanly(name, ignore=ignore))
