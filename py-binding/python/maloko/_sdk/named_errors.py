"""Errors of the SDK that say nothing of the resource: ours name it, and the property."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from typing import Any

from pulumi.runtime import resource as sdk_resource
from pulumi.runtime import rpc as sdk_rpc

from maloko._errors import MalokoError

_USUAL_RECURSION_LIMIT = 1000
"""Python's own. With a higher one the SDK's serialisation does not run out of stack where it should."""
_MOST_LEVELS = 300
"""So deep the SDK's serialisation comes with the usual limit at most."""


def places() -> list[tuple[Any, str, Callable[[Any], Any]]]:
    """The places of the SDK: owner, name, and what makes the replacement."""
    return [
        (sdk_resource, "prepare_resource", _naming_what_cannot_be_sent),
        (sdk_rpc, "serialize_properties", _naming_what_is_too_large),
    ]


def _naming_what_cannot_be_sent(original: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """Where the SDK's serialisation runs out of stack, or a number has no place in a message, the error names the
    resource and the property."""

    async def prepare_resource(
        res: Any, ty: str, custom: bool, remote: bool, props: Any, *args: Any, **kwargs: Any
    ) -> Any:
        try:
            if sys.getrecursionlimit() > _USUAL_RECURSION_LIMIT and _deepest(props)[1] > _MOST_LEVELS:
                # The SDK would go on, until protobuf's own code overflows the stack of the process.
                raise RecursionError
            return await original(res, ty, custom, remote, props, *args, **kwargs)
        except RecursionError:
            key, _ = _deepest(props)
            place = f"property '{key}'" if key else "a property"
            reason = (
                f"{place} is nested too deeply: values may hold about 30 levels of objects, or 45 of lists; make it "
                "flatter, or pass it as a text (JSON)"
            )
        except NumberTooLargeError as error:
            reason = str(error)
        raise MalokoError(f"{ty} resource '{getattr(res, '_name', '')}': {reason}")

    return prepare_resource


class NumberTooLargeError(MalokoError):
    """A whole number that has no place in a message."""


def _naming_what_is_too_large(original: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    async def serialize_properties(*args: Any, **kwargs: Any) -> Any:
        try:
            return await original(*args, **kwargs)
        except OverflowError as error:
            path = _too_large(error)
        place = f"property '{path}'" if path else "a property"
        raise NumberTooLargeError(f"{place} is a whole number too large for a double; pass it as a text")

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
