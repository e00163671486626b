"""The one file that knows the SDK's private names.

Everything here is looked for before it is used. The essential seams raise when an SDK lacks them; the rest (speed)
is left out quietly.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import copy
import gc
import pathlib
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pulumi
import pulumi.dynamic.dynamic
from google.protobuf import struct_pb2
from pulumi.runtime import resource as sdk_resource
from pulumi.runtime import rpc as sdk_rpc
from pulumi.runtime import settings as sdk_settings
from pulumi.runtime import stack as sdk_stack

from maloko._current import CURRENT_CALL
from maloko._environment import config_variable
from maloko._errors import MalokoError
from maloko._monitor import EngineService, Monitor, SdkExecutor
from maloko._outputs import made_in_call
from maloko._sdk import lacks, sdk_version
from maloko._threads import start_in_context, submit_in_context

try:
    from pulumi.runtime._callbacks import _CallbackServicer
    from pulumi.runtime.proto import source_pb2
    from pulumi.runtime.rpc import serialize_properties
    from pulumi.runtime.stack import run_in_stack
except ImportError as error:
    raise lacks(f"a private name ({error})") from None

if TYPE_CHECKING:
    from maloko._host import Host
    from maloko._maloko import Engine as NativeEngine

_GC_THRESHOLDS = (100_000, 50, 1_000)


def _essential() -> list[tuple[Any, str, str]]:
    """The places that results depend on: owner, name, and where it is for a reader."""
    return [
        (pulumi.dynamic.dynamic, "serialize_provider", "pulumi.dynamic.dynamic"),
        (pulumi.Output, "get", "pulumi.Output"),
        (pulumi.Output, "secret", "pulumi.Output"),
        (pulumi.Output, "from_input", "pulumi.Output"),
        (pulumi.Output, "all", "pulumi.Output"),
        (pulumi.runtime, "set_all_config", "pulumi.runtime"),
        (sdk_rpc, "contains_unknowns", "pulumi.runtime.rpc"),
        (sdk_settings, "ROOT", "pulumi.runtime.settings"),
        (sdk_settings, "get_monitor", "pulumi.runtime.settings"),
        (sdk_settings.Settings, "monitor", "pulumi.runtime.settings.Settings"),
        (sdk_settings.Settings, "callbacks", "pulumi.runtime.settings.Settings"),
    ]


def _optional() -> list[tuple[Any, str, Callable[[Any], Any]]]:
    """The places that only speed and clearer errors depend on: owner, name, and what makes the replacement."""
    return [
        # A handle is no secret, and secrets cost time on their way to the engine.
        (pulumi.dynamic.ResourceProvider, "serialize_as_secret_always", lambda _: False),
        (sdk_resource, "_get_stack_trace", _stack_trace),
        (sdk_resource, "create_urn", _urn_instead_of_output),
        (sdk_resource, "prepare_resource", _naming_what_cannot_be_sent),
        (sdk_rpc, "serialize_properties", _naming_what_is_too_large),
        (pulumi.log, "debug", _debug_for_users),
        (sdk_stack, "asyncio", lambda original: _AsyncioOfTheStack() if original is asyncio else original),
        (sdk_rpc, "declare_dependency", lambda _: _declare_dependency),
    ]


def check_sdk() -> None:
    """Refuses an SDK that lacks a place which results depend on."""
    missing = [f"{where}.{name}" for owner, name, where in _essential() if not hasattr(owner, name)]
    if missing:
        raise lacks(", ".join(missing))


# The run's own settings.


class _Callbacks(_CallbackServicer):
    """Keeps the program's transforms and hooks for calls within the process: no server, no socket."""

    def __init__(self, monitor: Any, loop: asyncio.AbstractEventLoop, host: Host) -> None:
        self._host = host
        self._callbacks = host.callbacks
        self._transforms = {}
        self._state_migrations = {}
        self._monitor = monitor
        self._target = "in-process"
        self._loop = loop

    async def serve(self) -> None:
        """There is nothing to be served."""

    def register_transform(self, transform: Any) -> Any:
        """Keeps the function's name for messages."""
        return self._named(transform, super().register_transform(transform))

    def do_register_invoke_transform(self, transform: Any) -> Any:
        """Keeps the function's name for messages."""
        return self._named(transform, super().do_register_invoke_transform(transform))

    async def _transformation_resource_options(self, opts: Any, *rest: Any) -> Any:
        """Writes a replacement trigger as the message has it: what the SDK does fails for every trigger."""
        trigger = getattr(opts, "replacement_trigger", None)
        if trigger is None:
            return await super()._transformation_resource_options(opts, *rest)
        opts = copy.copy(opts)
        opts.replacement_trigger = None
        options = await super()._transformation_resource_options(opts, *rest)
        if not isinstance(trigger, struct_pb2.Value):
            holder = await serialize_properties({"trigger": trigger}, {})
            trigger = holder.fields["trigger"]
        options.replacement_trigger.CopyFrom(trigger)
        return options

    def _named(self, function: Any, callback: Any) -> Any:
        name = getattr(function, "__qualname__", None)
        if name is not None:
            self._host.callback_names[callback.token] = name
        return callback


def enter_run(native: NativeEngine, host: Host, loop: asyncio.AbstractEventLoop) -> Monitor:
    """Makes the current context (which must be the run's own) the one of this run: call it on the loop's thread."""
    monitor = Monitor(native, host, loop)
    settings = sdk_settings.Settings
    # The SDK makes the first value of a setting the default of the whole process, and so of every other run. A setting
    # that is set already is not a first value.
    context_variables = {
        name: variable
        for name, member in vars(settings).items()
        if isinstance(variable := getattr(member, "_data", None), contextvars.ContextVar)
    }
    if "monitor" not in context_variables or "callbacks" not in context_variables:
        raise MalokoError(f"pulumi {sdk_version()} keeps its settings in a way that this maloko does not know")
    for variable in context_variables.values():
        variable.set(False)
    sdk_settings.ROOT.set(None)
    arguments: dict[str, Any] = {
        "project": native.project,
        "stack": native.stack,
        "monitor": monitor,
        "engine": EngineService(native),
        "dry_run": native.dry_run,
        "organization": native.organization,
        "root_directory": native.project_root,
        "parallel": native.parallel,
    }
    known = settings.__init__.__code__.co_varnames
    settings(**{name: value for name, value in arguments.items() if name in known})
    context_variables["callbacks"].set(_Callbacks(monitor, loop, host))
    values, secret_keys = native.config()
    pulumi.runtime.set_all_config(values, secret_keys)
    loop.set_default_executor(SdkExecutor(monitor, loop))
    return monitor


def run_stack(program: Callable[[], Awaitable[None] | None]) -> Awaitable[None]:
    """The SDK's own way of running a program inside a root stack."""
    return run_in_stack(program)


# The seams themselves; in place while at least one run is active.

_lock = threading.Lock()
_active = 0
_undo = contextlib.ExitStack()


@contextlib.contextmanager
def in_place() -> Iterator[None]:
    """Keeps the seams in place. Other users of the SDK in this process are served as before."""
    global _active
    check_sdk()
    with _lock:
        _active += 1
        if _active == 1:
            _put_in_place(_undo)
    try:
        yield
    finally:
        with _lock:
            _active -= 1
            if _active == 0:
                _undo.close()


def _replace(stack: contextlib.ExitStack, owner: Any, name: str, value: Any, *, static: bool = False) -> None:
    original = vars(owner)[name] if static else getattr(owner, name)
    setattr(owner, name, value)
    stack.callback(setattr, owner, name, original)


def _put_in_place(stack: contextlib.ExitStack) -> None:
    module = pulumi.dynamic.dynamic
    _replace(stack, module, "serialize_provider", _handle_instead_of(module.serialize_provider))
    _replace(stack, pulumi.Output, "get", _get_inside_providers(pulumi.Output.get))
    for name in ("secret", "from_input", "all"):
        _replace(stack, pulumi.Output, name, staticmethod(made_in_call(getattr(pulumi.Output, name))), static=True)
    _replace(stack, threading.Thread, "start", start_in_context(threading.Thread.start))
    _replace(stack, ThreadPoolExecutor, "submit", submit_in_context(ThreadPoolExecutor.submit))
    for owner, name, made_from in _optional():
        if hasattr(owner, name):
            _replace(stack, owner, name, made_from(getattr(owner, name)))
    stack.enter_context(config_variable())
    thresholds = gc.get_threshold()
    gc.set_threshold(*_GC_THRESHOLDS)
    stack.callback(gc.set_threshold, *thresholds)


def _handle_instead_of(original: Callable[[Any], str]) -> Callable[[Any], Any]:
    """Hands the live object to the run that the registration belongs to; other runs get what they would get."""

    def serialize_provider(provider: Any) -> Any:
        monitor = sdk_settings.get_monitor()
        if not isinstance(monitor, Monitor):
            if monitor is None:
                raise MalokoError(
                    "a dynamic resource was made outside of a run: on a thread or in a task that does not belong to "
                    "the program (use asyncio.to_thread, or contextvars.copy_context().run)"
                )
            return original(provider)
        host = monitor.maloko_host
        handle = host.handle(provider)
        _note_resource(host, provider)
        captured = host.registry.captured(handle)
        if captured:
            # The registration waits for them, so that `get` has an answer.
            return pulumi.Output.all(*captured).apply(lambda _: handle, True)
        return handle

    serialize_provider.__wrapped__ = original  # type: ignore[attr-defined]
    return serialize_provider


def _note_resource(host: Host, provider: Any) -> None:
    """Finds the resource that is being made, in the frame of its constructor."""
    frame: Any = sys._getframe(2)
    for _ in range(6):
        if frame is None:
            return
        if frame.f_code.co_name == "__init__" and frame.f_globals.get("__name__") == "pulumi.dynamic.dynamic":
            local = frame.f_locals
            resource, name, props = type(local["self"]), local["name"], local["props"]
            kind = f"pulumi-python:{resource._resource_type_name}"
            host.note_resource(resource, kind, name, frozenset(props), provider)
            host.traps.note(provider, kind, name)
            if host.bodies is not None:
                host.bodies.note(kind, name, frame)
            return
        frame = frame.f_back


def _get_inside_providers(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
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


def _naming_what_cannot_be_sent(original: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """Where the SDK's serialisation runs out of stack, or a number has no place in a message, the error names the
    resource and the property."""

    async def prepare_resource(
        res: Any, ty: str, custom: bool, remote: bool, props: Any, *args: Any, **kwargs: Any
    ) -> Any:
        try:
            return await original(res, ty, custom, remote, props, *args, **kwargs)
        except RecursionError:
            place = f"property '{key}'" if (key := _deepest(props)) else "a property"
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


def _deepest(props: Any) -> str | None:
    """The property whose plain lists and dicts are nested most deeply; containers that are met twice count once."""
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
    return deepest


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
        return await asyncio.wait(tasks, return_when=return_when)


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
