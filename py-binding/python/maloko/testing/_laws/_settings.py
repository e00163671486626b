"""What the author of a provider says to its laws."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from maloko._errors import MalokoError
from maloko.testing._laws._baseline import baseline_of
from maloko.testing._laws._plugin import Plugin
from maloko.testing._laws._words import plain
from maloko.testing._laws._worlds import abilities_of


@dataclass
class Settings:
    """The attributes of a class of laws, checked."""

    name: str
    provider: Any
    inputs: Any
    world: Any = None
    config: Any = None
    volatile: frozenset[str] = frozenset()
    secret: frozenset[str] | None = None
    """Empty: there are none. `None`: nobody said."""
    baseline: Any = None
    waive: Mapping[str, str] = field(default_factory=dict)
    grace: float = 5.0
    examples: int = 10
    place: str = ""
    """The file in which the class is defined."""

    @classmethod
    def of(cls, owner: type, laws: Mapping[str, Any]) -> Settings:
        """Reads a class; raises `MalokoError` for what makes no sense."""
        given = {name: _attribute(owner, name) for name in cls.__dataclass_fields__ if name not in ("name", "place")}
        for wanted, what in (
            ("provider", "the class of the provider, or a function that makes one"),
            ("inputs", "a Hypothesis strategy that makes dicts of inputs, or a list of such dicts"),
        ):
            if given[wanted] is None:
                raise MalokoError(f"{owner.__qualname__} has no `{wanted}`: set it to {what}")
        waive = given["waive"] or {}
        for law, reason in waive.items():
            if law not in laws:
                raise MalokoError(
                    f"{owner.__qualname__}.waive names {law!r}, which is no law; those are {', '.join(laws)}"
                )
            if not isinstance(reason, str) or not reason.strip():
                raise MalokoError(f"{owner.__qualname__}.waive gives no reason for {law}; write one")
        provider, secret = given["provider"], given["secret"]
        name = provider.__name__ if inspect.isclass(provider) else owner.__qualname__
        given.update(
            name=provider.type if isinstance(provider, Plugin) else name,
            volatile=_names(owner, "volatile", given["volatile"]),
            secret=None if secret is None else _names(owner, "secret", secret),
            waive=waive,
            grace=5.0 if given["grace"] is None else float(given["grace"]),
            examples=10 if given["examples"] is None else int(given["examples"]),
            place=inspect.getfile(owner),
        )
        return cls(**given)

    def make_provider(self, world: Any) -> Any:
        """A new provider object, which talks to the world when it takes one."""
        return made_with(self.provider, world, "provider")

    def config_for(self, world: Any) -> dict[str, Any]:
        """The configuration, which may depend on the world (an address)."""
        given = made_with(self.config, world, "config") if callable(self.config) else self.config
        return dict(given or {})

    def former(self, law: str) -> list[dict[str, Any]] | None:
        """What the baseline has of the previous release; `None` without one, and for laws that do not ask for it."""
        if law != "L16" or self.baseline is None:
            return None
        return baseline_of(self.baseline, self.place, self.provider.type if isinstance(self.provider, Plugin) else "")

    def subject(self, world: Any, inputs: Any, listed: int | None) -> dict[str, Any]:
        """The facts about one example that a law's procedure gets; the same for provider objects and plugins.

        :param listed: how many different inputs there are; `None` where they are drawn.
        """
        return {
            "inputs": plain(inputs),
            "volatile": sorted(self.volatile),
            "secret": None if self.secret is None else sorted(self.secret),
            "world": abilities_of(world),
            "grace": self.grace,
            "listed": listed,
        }


def made_with(make: Any, world: Any, what: str) -> Any:
    """What a class or function makes; it is given the world when it has a parameter without default, or one of that
    name."""
    from pulumi.dynamic import ResourceProvider

    if isinstance(make, ResourceProvider):
        raise MalokoError(
            f"`{what}` is one object, {make!r}, and each example needs one of its own: give the class "
            f"{type(make).__qualname__}, or a function that makes an object"
        )
    parameters = inspect.signature(make).parameters.values()
    wants = [
        it
        for it in parameters
        if it.kind in (it.POSITIONAL_ONLY, it.POSITIONAL_OR_KEYWORD) and (it.default is it.empty or it.name == "world")
    ]
    if len(wants) > 1:
        raise MalokoError(
            f"`{what}` wants {', '.join(it.name for it in wants)}; it is called with the world alone: wrap it in a "
            "function that gives it the rest"
        )
    if wants and world is None:
        raise MalokoError(f"`{what}` wants '{wants[0].name}', and there is no `world` to give it: set `world`")
    made = make(world) if wants else make()
    if what == "provider" and not isinstance(made, ResourceProvider):
        raise MalokoError(
            f"`provider` makes {made!r}, which is no provider: one derives from pulumi.dynamic.ResourceProvider"
        )
    return made


def _attribute(owner: type, name: str) -> Any:
    """An attribute as it was written: a function in a class body is no method here."""
    found = inspect.getattr_static(owner, name, None)
    return found.__func__ if isinstance(found, staticmethod) else found


def _names(owner: type, attribute: str, given: Any) -> frozenset[str]:
    if isinstance(given, str):
        raise MalokoError(f"{owner.__qualname__}.{attribute} is a text; write a set of names: {{{given!r}}}")
    return frozenset(given or ())
