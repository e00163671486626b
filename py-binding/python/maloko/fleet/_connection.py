"""The way to the server."""

from __future__ import annotations

from typing import Any

from temporalio.client import Client
from temporalio.envconfig import ClientConfig
from temporalio.service import RPCError

from maloko.fleet._codec import data_converter
from maloko.fleet._ends import FleetError
from maloko.fleet._wire import Engine

_DEFAULT = "127.0.0.1:7233"


async def connect(engine: Engine | None) -> Client:
    """A client of the server that the fleet names; what it does not say is in Temporal's own variables and profiles.

    :raises FleetError: when the server cannot be reached
    """
    config: dict[str, Any] = dict(ClientConfig.load_client_connect_config())
    if engine is not None:
        config["target_host"] = engine["address"]
        config["namespace"] = engine["namespace"]
    config.setdefault("target_host", _DEFAULT)
    try:
        return await Client.connect(**config, data_converter=data_converter())
    except (RPCError, RuntimeError) as error:
        raise FleetError(
            f"the Temporal server at {config['target_host']} cannot be reached: {_first_line(error)}\n"
            "Start one (`maloko fleet dev` has one for tries), or correct `engine` in the fleet's file"
        ) from error


def _first_line(error: BaseException) -> str:
    return str(error).strip().split("\n", 1)[0]
