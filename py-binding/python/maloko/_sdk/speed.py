"""What makes the SDK faster while a run is active. No result depends on it."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import inspect
import pathlib
import sys
from asyncio import wait as wait_for_tasks  # kept: a program may take it away
from collections.abc import Callable, Iterator
from typing import Any

import pulumi
from pulumi import _types as sdk_types
from pulumi.runtime import resource as sdk_resource
from pulumi.runtime import rpc as sdk_rpc
from pulumi.runtime import settings as sdk_settings
from pulumi.runtime import stack as sdk_stack

from maloko._sdk.monitor import Monitor
from maloko._sdk.version import lacks

try:
    from pulumi.runtime.proto import source_pb2
except ImportError as error:
    raise lacks(f"a private name ({error})") from None

_GC_THRESHOLDS = (100_000, 50, 1_000)


def places() -> list[tuple[Any, str, Callable[[Any], Any]]]:
    """The places of the SDK that only speed depends on: owner, name, and what makes the replacement."""
    return [
        # A handle is no secret, and secrets cost time on their way to the engine.
        (pulumi.dynamic.ResourceProvider, "serialize_as_secret_always", lambda _: False),
        (sdk_resource, "_get_stack_trace", _stack_trace),
        (sdk_resource, "create_urn", _urn_instead_of_output),
        (pulumi.log, "debug", _debug_for_users),
        (sdk_stack, "asyncio", lambda original: _AsyncioOfTheStack() if original is asyncio else original),
        (sdk_rpc, "declare_dependency", lambda _: _declare_dependency),
        (sdk_types, "resource_types", _types_by_class),
    ]


@contextlib.contextmanager
def fewer_collections() -> Iterator[None]:
    """Lets the garbage collector run less often: a program makes many objects, and drops few."""
    thresholds = gc.get_threshold()
    gc.set_threshold(*_GC_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)


_positions: dict[tuple[Any, int], Any] = {}


def _stack_trace(original: Callable[[], Any]) -> Callable[[], Any]:
    """The same trace as the SDK's, without reading source files; positions are remembered by code and line."""

    def position(code: Any, line: int) -> Any:
        known = _positions.get((code, line))
        if known is None:
            try:
                uri = pathlib.Path(code.co_filename).as_uri()
            except ValueError:
                known = source_pb2.StackFrame()
            else:
                known = source_pb2.StackFrame(pc=source_pb2.SourcePosition(uri=uri, line=line))
            if len(_positions) > 20_000:
                _positions.clear()
            _positions[code, line] = known
        return known

    def get_stack_trace() -> Any:
        if not isinstance(sdk_settings.get_monitor(), Monitor):
            return original()
        # The third constructor from here is that of the user's class; what called it is the user's place.
        frame: Any = sys._getframe(1)
        constructors = 0
        while frame is not None:
            if frame.f_code.co_name == "__init__":
                constructors += 1
                if constructors == 3:
                    break
            frame = frame.f_back
        frames = []
        frame = frame.f_back if frame is not None else None
        while frame is not None:
            if frame.f_globals.get("__name__", "").startswith("maloko."):
                break
            if frame.f_lineno is not None:
                frames.append(position(frame.f_code, frame.f_lineno))
            frame = frame.f_back
        return source_pb2.StackTrace(frames=frames)

    return get_stack_trace


def _types_by_class(original: Callable[[type], dict[str, type]]) -> Callable[[type], dict[str, type]]:
    """The types of a class's outputs, which the SDK reads from its annotations anew for each resource."""
    known: dict[type, tuple[dict[str, Any], dict[str, type]]] = {}

    def resource_types(resource_cls: type) -> dict[str, type]:
        annotations = inspect.get_annotations(resource_cls)
        found = known.get(resource_cls)
        if found is not None and _is_same(found[0], annotations):
            return found[1]
        types = original(resource_cls)
        known[resource_cls] = (annotations, types)
        return types

    return resource_types


def _is_same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one.keys() == other.keys() and all(value is other[name] for name, value in one.items())


class _KnownUrn:
    """A URN that is known already, in the place of an Output that would take several tasks to say so."""

    def __init__(self, text: str) -> None:
        self._text = text

    async def future(self, with_unknowns: bool | None = None) -> str:
        return self._text


def _urn_instead_of_output(original: Callable[..., Any]) -> Callable[..., Any]:
    def create_urn(name: Any, type_: Any, parent: Any = None, project: Any = None, stack: Any = None) -> Any:
        caller = sys._getframe(1).f_code.co_name
        plain = type(name) is str and type(type_) is str and (parent is None or type(parent) is str)
        # Only the two functions that await the URN at once (and use it for mocks) can do without an Output.
        if not plain or project is not None or stack is not None or caller not in ("do_register", "do_read"):
            return original(name, type_, parent, project, stack)
        if parent:
            prefix = parent[: parent.rfind("::")] + "$"
        else:
            prefix = f"urn:pulumi:{sdk_settings.get_stack()}::{sdk_settings.get_project()}::"
        return _KnownUrn(f"{prefix}{type_}::{name}")

    return create_urn


def _debug_for_users(original: Callable[..., None]) -> Callable[..., None]:
    """Debug messages of the SDK itself are dropped: there are several for each resource. Users' ones are kept."""

    def debug(msg: str, resource: Any = None, stream_id: int | None = None, ephemeral: bool | None = None) -> None:
        if sys._getframe(1).f_globals.get("__name__", "").startswith("pulumi."):
            return
        original(msg, resource, stream_id, ephemeral)

    return debug


class _AsyncioOfTheStack:
    """`asyncio` for the SDK's wait for all outputs of a program, which looks at every output each time that one is
    there: a time that grows with the square of their number. Waking up for the last one, or for an exception, does."""

    def __getattr__(self, name: str) -> Any:
        return getattr(asyncio, name)

    async def wait(self, tasks: Any, *, return_when: str = asyncio.ALL_COMPLETED) -> Any:
        """As `asyncio.wait`, save that the first completed task is not enough."""
        if return_when == asyncio.FIRST_COMPLETED:
            return_when = asyncio.FIRST_EXCEPTION
        return await wait_for_tasks(tasks, return_when=return_when)


_DEPENDENCIES = "_direct_computed_dependencies"
"""Where the SDK keeps which resources a resource depends on."""
_NEEDED = "_maloko_is_needed"


def _declare_dependency(from_resource: Any, to_resource: Any) -> bool:
    """The SDK's check for cycles, in constant time for resources that nothing depends on yet: those close no cycle.

    The SDK walks all that the other resource depends on, by recursion: a chain ends at the interpreter's limit, and
    takes a time that grows with the cube of its length.
    """
    if from_resource is to_resource or (hasattr(from_resource, _NEEDED) and _depends(to_resource, from_resource)):
        return False
    setattr(from_resource, _DEPENDENCIES, getattr(from_resource, _DEPENDENCIES, set()) | {to_resource})
    setattr(to_resource, _NEEDED, True)
    return True


def _depends(resource: Any, other: Any) -> bool:
    seen: set[Any] = set()
    waiting = [resource]
    while waiting:
        resource = waiting.pop()
        if resource is other:
            return True
        if resource not in seen:
            seen.add(resource)
            waiting.extend(getattr(resource, _DEPENDENCIES, ()))
    return False
