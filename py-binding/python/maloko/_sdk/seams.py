"""Puts our seams into the SDK while a run is active, and takes them out again.

Only this folder knows the SDK's private names. Every place is looked for before it is used. Where an SDK lacks an
essential place, the run is refused; what is for speed or for better errors is then left out quietly.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pulumi
import pulumi.dynamic.dynamic
from pulumi.runtime import rpc as sdk_rpc
from pulumi.runtime import settings as sdk_settings

from maloko._errors import MalokoError
from maloko._process.threads import start_in_context, submit_in_context
from maloko._sdk import named_errors, speed, unreadable
from maloko._sdk.callbacks import CallbacksInProcess
from maloko._sdk.environment import config_variable
from maloko._sdk.get import inside_providers
from maloko._sdk.made_at import NAMES, naming_the_line
from maloko._sdk.monitor import EngineService, Monitor, SdkExecutor
from maloko._sdk.outputs import made_in_call
from maloko._sdk.version import lacks, sdk_version

try:
    from pulumi.runtime.stack import run_in_stack
except ImportError as error:
    raise lacks(f"a private name ({error})") from None

if TYPE_CHECKING:
    from maloko._maloko import Engine as NativeEngine
    from maloko._sdk.run_host import RunHost


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
    """The places that only speed and better errors depend on: owner, name, and what makes the replacement."""
    return [*speed.places(), *named_errors.places(), *unreadable.places()]


def check_sdk() -> None:
    """Refuses an SDK that lacks a place which results depend on."""
    missing = [f"{where}.{name}" for owner, name, where in _essential() if not hasattr(owner, name)]
    if missing:
        raise lacks(", ".join(missing))


# The run's own settings.


def enter_run(native: NativeEngine, host: RunHost, loop: asyncio.AbstractEventLoop) -> Monitor:
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
    context_variables["callbacks"].set(CallbacksInProcess(monitor, loop, host))
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
    _replace(stack, pulumi.Output, "get", inside_providers(pulumi.Output.get))
    for name in ("secret", "from_input", "all"):
        _replace(stack, pulumi.Output, name, staticmethod(made_in_call(getattr(pulumi.Output, name))), static=True)
    for name in NAMES:
        if hasattr(pulumi.Output, name):
            made = staticmethod(naming_the_line(getattr(pulumi.Output, name)))
            _replace(stack, pulumi.Output, name, made, static=True)
    _replace(stack, threading.Thread, "start", start_in_context(threading.Thread.start))
    _replace(stack, ThreadPoolExecutor, "submit", submit_in_context(ThreadPoolExecutor.submit))
    for owner, name, made_from in _optional():
        if hasattr(owner, name):
            _replace(stack, owner, name, made_from(getattr(owner, name)))
    stack.enter_context(unreadable.outputs_looked_through())
    stack.enter_context(config_variable())
    stack.enter_context(speed.fewer_collections())


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


def _note_resource(host: RunHost, provider: Any) -> None:
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
