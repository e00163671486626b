"""The live provider objects of a run, and how one is found again from the state.

What is kept in the state is a reference: module, qualified name of the class and the instance's attributes as JSON,
read once, when the object is first registered. A reference is complete when the class can be found by that name and
every attribute is plain data; only then can the object be rebuilt in a later run whose program does not make it.
"""

from __future__ import annotations

import importlib
import json
import sys
import threading
from collections.abc import Mapping
from types import ModuleType
from typing import Any, NamedTuple

from maloko._providers import registered
from maloko._providers.attributes import StoredAttributes
from maloko._providers.configured import taken_of
from maloko._providers.constructors import assigns_functions
from maloko._providers.methods import Methods, MethodsByClass
from maloko._providers.rate_limits import Limits, limits_of
from maloko._providers.revision import Fingerprints, version_of
from maloko._providers.transience import retryable_errors_of
from maloko._sdk.captured_outputs import captured_outputs

HANDLE_PREFIX = "maloko:object:"
"""How the engine recognises our handles; the same text as `provider::HANDLE_PREFIX` in maloko-core."""


class Unloadable(Exception):  # noqa: N818 the module's own error is the cause
    """A module in which a provider was to be found raised an error."""


class Reference(NamedTuple):
    """What stands for a provider object in the state."""

    module: str
    name: str
    attributes: str | None
    incomplete: str | None


class Autonaming(NamedTuple):
    """The property of a provider's resources that is named automatically."""

    property: str
    max_length: int | None
    """Characters that the name may have at most."""


class Description(NamedTuple):
    """What the engine learns of an object; py-binding/src/description.rs reads it by these names."""

    module: str
    name: str
    attributes: str | None
    incomplete: str | None
    methods: Methods
    autonaming: Autonaming | None
    version: int | None
    code: str | None
    """A fingerprint of its source code; `None` without source."""
    limits: Limits | None


class Entry(NamedTuple):
    """A live object and what was read from it when it was registered."""

    provider: Any
    reference: Reference
    taken: StoredAttributes
    methods: Methods
    outputs: tuple[Any, ...]
    autonaming: Autonaming | None
    version: int | None
    limits: Limits | None


class Registry:
    """Live objects by number. The same object has the same number for a whole run, and is kept alive by it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers: dict[int, int] = {}
        self._entries: list[Entry] = []
        self._rebuilt: dict[tuple[str, str, str | None], int] = {}
        self._by_reference: dict[Reference, int] = {}
        self._indexed = 0
        self._rebuilding = threading.RLock()
        self.main: ModuleType | None = None
        """The program's own module; `__main__` in a reference means this one."""
        self._fingerprints = Fingerprints(self._module)
        self._methods = MethodsByClass()

    def number(self, provider: Any) -> int:
        """The object's number; registers it when it is new."""
        number = self._numbers.get(id(provider))
        if number is not None:
            return number
        with self._lock:
            number = self._numbers.get(id(provider))
            if number is None:
                # First of all: what an earlier run's `configure` has set is taken back.
                taken = taken_of(provider)
                # What is wrong with them is said here, and not when a call has failed.
                retryable_errors_of(provider)
                entry = Entry(
                    provider,
                    self._refer(provider, taken),
                    taken,
                    self._methods.of(provider),
                    captured_outputs(provider),
                    autonaming_of(provider),
                    version_of(provider),
                    limits_of(provider),
                )
                number = len(self._entries)
                self._entries.append(entry)
                self._numbers[id(provider)] = number
            return number

    def entry(self, number: int) -> Entry:
        """What is known of the object."""
        return self._entries[number]

    def describe(self, number: int) -> Description:
        """Where to find the object again, its methods, which code it is, and how often it may be called."""
        entry = self._entries[number]
        code = self._fingerprints.of(type(entry.provider))
        return Description(*entry.reference, entry.methods, entry.autonaming, entry.version, code, entry.limits)

    def captured(self, handle: str) -> tuple[Any, ...]:
        """The Outputs that the object of a handle has captured."""
        return self._entries[int(handle[len(HANDLE_PREFIX) :])].outputs

    def _refer(self, provider: Any, taken: StoredAttributes) -> Reference:
        kind = type(provider)
        module, name = kind.__module__, kind.__qualname__
        attributes, reason = taken
        if self._find(module, name) is not kind:
            where = "inside a function" if "<locals>" in name else "where it cannot be found again by that name"
            reason = f"its class {name} is defined {where}; move it to the top of a module"
        return Reference(module, name, attributes, reason)

    def _find(self, module_name: str, name: str) -> Any:
        """The class of that name in a module that is loaded; `None` when there is none."""
        found: Any = self._module(module_name)
        for part in name.split("."):
            found = getattr(found, part, None)
        return found

    def _module(self, name: str) -> ModuleType | None:
        if name == "__main__" and self.main is not None:
            return self.main
        return sys.modules.get(name)

    def find(self, reference: Reference) -> int | None:
        """The number of an object that the program handed over, by its complete reference or what is one today."""
        with self._lock:
            for number in range(self._indexed, len(self._entries)):
                self._by_reference.setdefault(self._entries[number].reference, number)
            self._indexed = len(self._entries)
            found = self._by_reference.get(reference)
            return self._by_reference.get(_today(reference)) if found is None else found

    def is_by_hand(self, module: str, name: str) -> bool:
        """Did the program register a factory for the class?"""
        return (
            registered.factory_of(module, name) is not None
            or registered.factory_of(*registered.today(module, name)) is not None
        )

    def rebuild(self, reference: Reference) -> int | None:
        """Finds or makes the object of a stored reference: by a factory, by a former name, or by its name."""
        key = (reference.module, reference.name, reference.attributes)
        # One after the other: two resources with equal references are to share one object.
        with self._rebuilding:
            number = self._rebuilt.get(key)
            if number is None:
                today = _today(reference)
                provider = self._make(reference)
                if provider is None and today != reference:
                    # A class that was renamed or moved: from here on as if the state had its new name.
                    number = self.find(today) if today.incomplete is None else None
                    if number is not None:
                        return number
                    provider = self._make(today)
                if provider is None:
                    provider = self._rebuild(today)
                if provider is None:
                    return None
                number = self._rebuilt[key] = self.number(provider)
            return number

    def named(self, module: str, name: str) -> int | None:
        """Finds what a user named as a provider: an object, or a class of which one is made."""
        if not _is_loaded(module):
            return None
        found = self._find(module, name)
        if isinstance(found, type):
            found = found()
        return None if found is None else self.number(found)

    def _make(self, reference: Reference) -> Any:
        """An object by the factory that is registered for its class; `None` without one."""
        factory = registered.factory_of(reference.module, reference.name)
        if factory is None:
            return None
        return registered.make(factory, reference.module, reference.name, _attributes_in(reference))

    def _rebuild(self, reference: Reference) -> Any:
        """An object by its class, without its constructor; `None` where there is no such class any more."""
        if reference.incomplete is not None:
            return None
        try:
            if not _is_loaded(reference.module):
                return None
        except BaseException as error:  # a module may raise anything
            raise Unloadable from error
        kind = self._find(reference.module, reference.name)
        if not isinstance(kind, type):
            return None
        provider = _made(kind)
        if hasattr(provider, "__setstate__"):
            provider.__setstate__(_attributes_in(reference))
        else:
            for name, value in _attributes_in(reference).items():
                object.__setattr__(provider, name, value)
        return provider


def _is_loaded(module: str) -> bool:
    """Loads a module; is there one of that name? Raises what the module raises."""
    if module != "__main__":
        try:
            # Also when it is loaded: another thread may be in the middle of that, and this waits for it.
            importlib.import_module(module)
        except ModuleNotFoundError as error:
            # The module itself (or a package above it) is gone: that is step 5. Another one is the user's error.
            if error.name is not None and f"{module}.".startswith(f"{error.name}."):
                return False
            raise
    return True


def _made(kind: type) -> Any:
    """An object of a class, without its constructor unless that makes its methods."""
    if assigns_functions(kind):
        try:
            return kind()
        except Exception as error:  # a constructor may raise anything
            raise Unloadable from error
    new: Any = kind.__new__
    return new(kind)


def _today(reference: Reference) -> Reference:
    module, name = registered.today(reference.module, reference.name)
    return reference._replace(module=module, name=name)


def _attributes_in(reference: Reference) -> dict[str, Any]:
    attributes: dict[str, Any] = json.loads(reference.attributes or "{}")
    return attributes


def autonaming_of(provider: Any) -> Autonaming | None:
    """The property that the provider declares to be named automatically, with the longest name; see the guide."""
    declared = getattr(provider, "autonaming", None)
    if declared is None:
        return None
    members: Any = {"property": declared} if isinstance(declared, str) else declared
    name = type(provider).__qualname__
    if not isinstance(members, Mapping) or not isinstance(members.get("property"), str) or not members["property"]:
        raise TypeError(
            f"autonaming of {name} is {declared!r}; it must be the name of a property, or a dict with 'property' and "
            "'max_length'"
        )
    unknown = sorted(str(key) for key in members if key not in ("property", "max_length"))
    if unknown:
        raise TypeError(
            f"autonaming of {name} has the unknown member {unknown[0]!r}; known are property and max_length"
        )
    longest = members.get("max_length")
    if longest is not None and (type(longest) is not int or longest < 1):
        raise TypeError(f"autonaming of {name} has the max_length {longest!r}; it must be a whole number above 0")
    return Autonaming(members["property"], longest)
