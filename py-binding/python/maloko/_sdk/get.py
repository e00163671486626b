"""`Output.get` inside provider methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pulumi

from maloko._current import CURRENT_CALL
from maloko._errors import MalokoError


def inside_providers(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`Output.get` works inside provider methods, where it used to work on a copy of the value."""

    def get(self: Any) -> Any:
        if CURRENT_CALL.get() is None:
            return original(self)
        # Asking an Output for an attribute that it lacks makes a new Output.
        own = vars(self)
        future = own["_data"] if "_data" in own else own["_future"]
        if not future.done():
            raise MalokoError(
                "Output.get() was called in a provider method for an Output that is not resolved yet; pass it as an "
                "input of the resource, or name what it comes from in depends_on"
            )
        data = future.result()
        value = getattr(data, "value", data)
        return None if pulumi.runtime.rpc.contains_unknowns(value) else value

    return get
