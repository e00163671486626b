"""What the providers under the laws talk to: a fake of the service, or a look into the real one."""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from maloko._errors import MalokoError
from maloko.testing._laws._words import plain
from maloko.testing._worlds import ids_of, picture_of


class Needs(Exception):  # noqa: N818 it is no error
    """A law lacks what it needs; the message says what."""


class Place:
    """The world of one law, over all its examples.

    A world is a class or an object with `objects()`: the ids of all that is there, as a mapping, a set or a list. What
    else it has is used: `reset()`, before every example (without it, a new object of the class is made);
    `mutate_remote(id)` and `delete_remote(id)`, for what happens behind the provider's back; `calls`, a number that
    goes up with every request; `start()` and `stop()`, before the first example and after the last.
    """

    def __init__(self, given: Any) -> None:
        self._given = given
        self._started: Any = None
        self.now: Any = None
        """The world of this example; `None` without one."""

    @property
    def resets(self) -> bool:
        """Does an example begin with an empty world, whatever the one before has left?"""
        return self._given is None or inspect.isclass(self._given) or hasattr(self._given, "reset")

    def renew(self) -> None:
        """Begins an example."""
        if self._given is None:
            return
        reset = getattr(self.now, "reset", None)
        if self.now is not None and callable(reset):
            reset()
            return
        if not inspect.isclass(self._given):
            self._begin(self._given)
            return
        self.end()
        try:
            made = self._given()
        except TypeError as error:
            raise MalokoError(
                f"the world {self._given.__qualname__} cannot be made without arguments: {error}. Give the class's "
                "arguments defaults, or give an object of it as the world"
            ) from error
        self._begin(made)

    def _begin(self, world: Any) -> None:
        if self.now is world:
            return
        ids_of(world)
        self.now = world
        start = getattr(world, "start", None)
        if callable(start):
            start()
            self._started = world
        if callable(getattr(world, "reset", None)):
            world.reset()

    def end(self) -> None:
        """Ends the last example."""
        stop = getattr(self._started, "stop", None)
        self._started = None
        if callable(stop):
            stop()


THE_WORLD = "<the world>"
"""What a world is printed as while secrets are looked for."""


@contextmanager
def world_unseen(world: Any) -> Iterator[None]:
    """Has a world printed by its name meanwhile: what it keeps belongs to the service, and not to the provider."""
    kind = type(world)

    def fill(body: dict[str, Any]) -> None:
        body |= {"__slots__": (), "__module__": kind.__module__, "__qualname__": kind.__qualname__}
        body["__repr__"] = body["__str__"] = lambda _self: THE_WORLD

    # A type of Python itself has no room for another class: `printed` knows such a world by its text.
    with suppress(Exception):
        object.__setattr__(world, "__class__", types.new_class(kind.__name__, (kind,), {}, fill))
    try:
        yield
    finally:
        if type(world) is not kind:
            object.__setattr__(world, "__class__", kind)


def printed(value: Any, world: Any) -> str:
    """A value as it is printed, without what the world in it keeps."""
    return repr(value) if world is None else repr(value).replace(repr(world), THE_WORLD)


def abilities_of(world: Any) -> dict[str, Any] | None:
    """What can be done to a world behind the provider's back; `None` without one."""

    def ability(name: str) -> dict[str, Any]:
        return {"name": name, "there": callable(getattr(world, name, None))}

    return None if world is None else {"mutate": ability("mutate_remote"), "delete": ability("delete_remote")}


def asked_of(world: Any, request: Mapping[str, Any]) -> Any:
    """Does what the engine's side asks for of a world (`OF_WORLD`)."""
    match request["do"]:
        case "picture":
            return None if world is None else plain(picture_of(world))
        case "mutate-remote":
            world.mutate_remote(request["id"])
        case "delete-remote":
            world.delete_remote(request["id"])
    return None


OF_WORLD = ("picture", "mutate-remote", "delete-remote")
"""What is asked of every world alike."""
