"""How the program makes its resources: what code needs to know that declares another one."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from typing import Any

from pulumi.dynamic import Resource


def described(makers: Mapping[type, tuple[str, type]]) -> str:
    """The classes as JSON (`ResourceClass` of maloko-cli); those that cannot be named are left out."""
    found = [_described(resource, kind, provider) for resource, (kind, provider) in makers.items()]
    return json.dumps([it for it in found if it is not None])


def _described(resource: type, kind: str, provider: type) -> dict[str, Any] | None:
    if "<locals>" in resource.__qualname__:
        return None
    try:
        parameters = list(inspect.signature(resource).parameters.values())
    except (TypeError, ValueError):
        return None
    takes_provider = resource.__init__ is Resource.__init__  # type: ignore[misc]
    return {
        "module": resource.__module__,
        "name": resource.__qualname__,
        "kind": kind,
        "providerModule": provider.__module__,
        "providerName": provider.__qualname__,
        "takesProvider": takes_provider,
        "parameters": [
            _parameter(it)
            for it in parameters[2 if takes_provider else 1 :]
            if it.kind is not inspect.Parameter.VAR_POSITIONAL
        ],
    }


def _parameter(parameter: inspect.Parameter) -> dict[str, Any]:
    takes_all = parameter.kind is inspect.Parameter.VAR_KEYWORD
    return {
        "name": f"**{parameter.name}" if takes_all else parameter.name,
        "required": parameter.default is inspect.Parameter.empty and not takes_all,
    }
