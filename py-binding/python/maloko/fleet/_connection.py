"""The way to the server."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import time
from collections.abc import Callable
from typing import Any

from temporalio.client import Client
from temporalio.envconfig import ClientConfig
from temporalio.runtime import LoggingConfig, Runtime, TelemetryConfig, TelemetryFilter
from temporalio.service import RPCError

from maloko.fleet._codec import data_converter
from maloko.fleet._ends import FleetError
from maloko.fleet._wire import Engine

_DEFAULT = "127.0.0.1:7233"
_HERE = ("127.0.0.1", "localhost")
_LOOK_SECONDS = 0.2

_has_runtime = False
"""Has it been decided what the SDK's core says?"""

_waits: list[tuple[Callable[[str], None], float]] = []
"""Who is told that a command waits, and for how long; nobody where programs connect, which do not wait."""


def wait_for_servers_here(say: Callable[[str], None], seconds: float) -> None:
    """From now on a server at this machine that refuses connections has so many seconds to begin.

    :param say: is told once that it is waited for
    """
    _waits[:] = [(say, seconds)]


async def connect(engine: Engine | None) -> Client:
    """A client of the server that the fleet names; what it does not say is in Temporal's own variables and profiles.

    :raises FleetError: when the server cannot be reached
    """
    _say_errors_alone()
    config: dict[str, Any] = dict(ClientConfig.load_client_connect_config())
    if engine is not None:
        config["target_host"] = engine["address"]
        config["namespace"] = engine["namespace"]
    config.setdefault("target_host", _DEFAULT)
    address = config["target_host"]
    say, seconds = _waits[0] if _waits and _is_here(address) else (None, 0.0)
    until = time.monotonic() + seconds
    is_awaited = False
    while True:
        try:
            return await Client.connect(**config, data_converter=data_converter())
        except (RPCError, RuntimeError) as error:
            # One that begins refuses at first, and then answers late.
            if say is None or time.monotonic() > until:
                raise FleetError(
                    f"the Temporal server at {address} cannot be reached: {_in_words(error)}. `maloko fleet dev` "
                    "starts one on this machine; `engine` in the fleet's file names another"
                ) from error
        if not is_awaited:
            say(f"waiting {seconds:.0f} s for the server at {address}")
            is_awaited = True
        await asyncio.sleep(_LOOK_SECONDS)


def _say_errors_alone() -> None:
    """Keeps the SDK from telling of each try while the server is away. Who has a runtime already, or asks for more by
    RUST_LOG, has it as it is there."""
    global _has_runtime
    if _has_runtime or "RUST_LOG" in os.environ:
        return
    _has_runtime = True
    errors = LoggingConfig(filter=TelemetryFilter(core_level="ERROR", other_level="ERROR"))
    with contextlib.suppress(RuntimeError):
        Runtime.set_default(Runtime(telemetry=TelemetryConfig(logging=errors)))


def _is_here(address: str) -> bool:
    return address.rpartition(":")[0] in _HERE


def _in_words(error: BaseException) -> str:
    """What the server's package says, without the names of its own types."""
    line = str(error).strip().split("\n", 1)[0]
    if "ConnectionRefused" in line:
        return "connection refused"
    if "dns error" in line:
        return "there is no machine of that name"
    found = re.search(r'(?:message|error): "([^"]+)"', line)
    return line if found is None else found[1][:1].lower() + found[1][1:]
