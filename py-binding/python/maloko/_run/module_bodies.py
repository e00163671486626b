"""Resources that the body of a module registers: it runs at its first import only, also when a program runs again.

In a second run of the same process such a resource is not registered, which does not mean that the program no longer
has it. So it must not be deleted.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterator
from types import FrameType, ModuleType
from typing import Any, NamedTuple


class _Body(NamedTuple):
    module: weakref.ref[ModuleType]
    spec: Any
    """Another one after `importlib.reload`."""


_registered_by: dict[str, _Body] = {}
"""By URN, for the whole process: what is remembered here belongs to the modules, which are the process's too."""


class ModuleBodies:
    """What one run of a program registers from the bodies of modules, and what it does not come to register."""

    def __init__(self, project: str, stack: str) -> None:
        self._prefix = f"urn:pulumi:{stack}::{project}::"
        self._waiting: dict[tuple[str, str], _Body] = {}
        self._seen: set[str] = set()

    def note(self, kind: str, name: str, frame: FrameType | None) -> None:
        """A resource is made; `frame` is the one that calls its constructor."""
        module = _module_of_body(frame)
        if module is not None:
            self._waiting[kind, name] = _Body(weakref.ref(module), module.__spec__)

    def registered(self, kind: str, name: str, urn: str) -> None:
        """It has its URN."""
        body = self._waiting.pop((kind, name), None)
        if body is not None:
            _registered_by[urn] = body
        if urn in _registered_by:
            self._seen.add(urn)

    def not_executed_again(self) -> Iterator[tuple[str, str]]:
        """What an earlier run registered and this one did not, with the name of the module whose body did not run."""
        for urn, body in list(_registered_by.items()):
            module = body.module()
            if module is None or sys.modules.get(module.__name__) is not module or module.__spec__ is not body.spec:
                continue
            if urn.startswith(self._prefix) and urn not in self._seen:
                yield urn, module.__name__


def _module_of_body(frame: FrameType | None) -> ModuleType | None:
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name.startswith("maloko."):
            return None
        if frame.f_code.co_name == "<module>":
            module = sys.modules.get(name)
            return module if module is not None and vars(module) is frame.f_globals else None
        frame = frame.f_back
    return None
