"""Errors of the SDK that say nothing of the resource: ours name it, and the property."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from typing import Any

from pulumi.runtime import resource as sdk_resource
from pulumi.runtime import rpc as sdk_rpc

from maloko._errors import MalokoError

_USUAL_RECURSION_LIMIT = 1000
"""Python's own. Below it the SDK's serialisation runs out of stack where a value is far too deep."""
_MOST_LEVELS = 300
"""The usual limit refuses values of this depth at the latest."""


class UnsendableError(MalokoError):
    """A value that has no place in a message. Names the property; who has the property is not known here."""


def places() -> list[tuple[Any, str, Callable[[Any], Any]]]:
    """The places of the SDK: owner, name, and what makes the replacement."""
    return [
        (sdk_resource, "prepare_resource", _naming_the_resource),
        (sdk_rpc, "serialize_properties", _naming_the_property),
    ]


def _naming_the_resource(original: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    async def prepare_resource(res: Any, ty: str, *args: Any, **kwargs: Any) -> Any:
        try:
            return await original(res, ty, *args, **kwargs)
        except UnsendableError as error:
            reason = str(error)
        raise MalokoError(f"{ty} resource '{getattr(res, '_name', '')}': {reason}")

    return prepare_resource


def _naming_the_property(original: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    async def serialize_properties(inputs: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            if sys.getrecursionlimit() > _USUAL_RECURSION_LIMIT and _deepest(inputs)[1] > _MOST_LEVELS:
                # The SDK would go on, until protobuf's own code overflows the stack of the process.
                raise RecursionError
            return await original(inputs, *args, **kwargs)
        except RecursionError:
            path, _ = _deepest(inputs)
            reason = (
                "is nested too deeply: values may hold about 30 levels of objects, or 45 of lists; make it flatter, or "
                "pass it as a text (JSON)"
            )
        except OverflowError as error:
            path = _too_large(error)
            reason = "is a whole number too large for a double; pass it as a text"
        raise UnsendableError(f"property '{path}' {reason}" if path else f"a property {reason}")

    return serialize_properties


def _too_large(error: OverflowError) -> str | None:
    """The path of the number that was refused, among what the SDK was about to write."""
    trace = error.__traceback__
    while trace is not None:
        local = trace.tb_frame.f_locals
        if trace.tb_frame.f_globals.get("__name__") == sdk_rpc.__name__ and "result" in local:
            return _path_of_too_large(local["result"], str(local.get("k", "")))
        trace = trace.tb_next
    return None


def _path_of_too_large(value: Any, path: str) -> str | None:
    if isinstance(value, int):
        return path if abs(value) > sys.float_info.max else None
    if isinstance(value, dict):
        inner = ((item, f"{path}.{key}") for key, item in value.items())
    elif isinstance(value, list | tuple):
        inner = ((item, f"{path}[{index}]") for index, item in enumerate(value))
    else:
        return None
    return next((found for item, there in inner if (found := _path_of_too_large(item, there))), None)


def _deepest(props: Any) -> tuple[str | None, int]:
    """The property whose plain lists and dicts are nested most deeply, and how deeply; containers that are met twice
    count once."""
    deepest, depth_there = None, 0
    for key, value in dict(props or {}).items():
        level, depth = [value], 0
        seen: set[int] = set()
        while level:
            depth += 1
            containers = [item for item in level if type(item) in (dict, list, tuple) and id(item) not in seen]
            seen.update(map(id, containers))
            level = [inner for item in containers for inner in (item.values() if type(item) is dict else item)]
        if depth > depth_there:
            deepest, depth_there = key, depth
    return deepest, depth_there
