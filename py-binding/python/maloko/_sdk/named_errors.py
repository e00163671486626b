"""Errors of the SDK that say nothing of the resource: ours name it, and the property."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from pulumi.runtime import resource as sdk_resource
from pulumi.runtime import rpc as sdk_rpc

from maloko._errors import MalokoError
from maloko._process.tracebacks import as_text

_CONTAINS_ITSELF = (
    "contains itself: a value has to end somewhere; leave the circle out, or pass an id or a name in its place"
)
_TOO_DEEP = (
    "is nested too deeply: values may hold 100 levels of objects and lists; make it flatter, or pass it as "
    "a text (JSON)"
)

_USUAL_RECURSION_LIMIT = 1000
"""Python's own. Below it the SDK's serialisation runs out of stack where a value is far too deep."""
_USUAL_LEVELS = 30
"""Less than any value that is too deep."""
_MAX_LEVELS = 300
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
            if sys.getrecursionlimit() > _USUAL_RECURSION_LIMIT and (
                _circle_in(inputs) is not None or _deepest(inputs)[1] > _MAX_LEVELS
            ):
                # The SDK would go on, until protobuf's own code overflows the stack of the process.
                raise RecursionError
            return await original(inputs, *args, **kwargs)
        except RecursionError:
            path = _circle_in(inputs)
            if path is not None:
                reason = _CONTAINS_ITSELF
            else:
                path, depth = _deepest(inputs)
                # What is not deep itself leads to outputs that are.
                reason = ("contains itself by way of an output, or " if depth < _USUAL_LEVELS else "") + _TOO_DEEP
        except OverflowError as error:
            path = next((path for path, value in _sent(error) if _is_too_large(value)), None)
            reason = "is a whole number too large for a double; pass it as a text"
        except UnicodeEncodeError as error:
            path = next((path for path, value in _sent(error) if _is_no_text(value)), None)
            reason = (
                "holds half of a surrogate pair, which is no valid text; encode it (base64), or take whole characters"
            )
        except TypeError as error:
            path, key = next(((path, key) for path, value in _sent(error) for key in _odd_keys(value)), (None, None))
            if path is None:
                raise
            reason = f"has the key {key!r}, which is no text; write {str(key)!r}"
        raise UnsendableError(f"property '{path}' {reason}" if path else f"a property {reason}")

    return serialize_properties


def _sent(error: BaseException) -> Iterator[tuple[str, Any]]:
    """What the SDK was about to write when it failed, with all that is in it, by path."""
    trace = error.__traceback__
    while trace is not None:
        local = trace.tb_frame.f_locals
        if trace.tb_frame.f_globals.get("__name__") == sdk_rpc.__name__ and "result" in local:
            yield from _all_in(str(local.get("k", "")), local["result"])
            return
        trace = trace.tb_next


def _all_in(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    yield path, value
    for inner, item in _members(path, value):
        yield from _all_in(inner, item)


def _is_too_large(value: Any) -> bool:
    return isinstance(value, int) and abs(value) > sys.float_info.max


def _is_no_text(value: Any) -> bool:
    """Is it, or has it as a name, a text that no file can hold?"""
    texts = [value] if isinstance(value, str) else value if isinstance(value, dict) else ()
    return any(isinstance(text, str) and as_text(text) != text for text in texts)


def _odd_keys(value: Any) -> list[Any]:
    return [key for key in value if not isinstance(key, str)] if isinstance(value, dict) else []


def _members(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """What is in a list or dict, by path."""
    if isinstance(value, dict):
        yield from ((f"{path}.{key}" if path else str(key), item) for key, item in value.items())
    elif isinstance(value, list | tuple):
        yield from ((f"{path}[{index}]", item) for index, item in enumerate(value))


def _circle_in(props: Any) -> str | None:
    """The path at which a list or dict is met inside of itself."""
    above: set[int] = set()
    done: set[int] = set()
    waiting = [(0, _members("", dict(props or {})))]
    while waiting:
        number, members = waiting[-1]
        for path, item in members:
            if not isinstance(item, dict | list | tuple) or id(item) in done:
                continue
            if id(item) in above:
                return path
            above.add(id(item))
            waiting.append((id(item), _members(path, item)))
            break
        else:
            waiting.pop()
            above.discard(number)
            done.add(number)
    return None


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
