"""The program's transforms and hooks, called within the process."""

from __future__ import annotations

import asyncio
import copy
from typing import TYPE_CHECKING, Any

from google.protobuf import struct_pb2

from maloko._sdk.version import lacks

try:
    from pulumi.runtime._callbacks import _CallbackServicer
    from pulumi.runtime.rpc import serialize_properties
except ImportError as error:
    raise lacks(f"a private name ({error})") from None

if TYPE_CHECKING:
    from maloko._sdk.run_host import RunHost


class CallbacksInProcess(_CallbackServicer):
    """Keeps the program's transforms and hooks for calls within the process: no server, no socket."""

    def __init__(self, monitor: Any, loop: asyncio.AbstractEventLoop, host: RunHost) -> None:
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
