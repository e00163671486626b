"""Loads the SDK without two parts of it that hardly any program uses, for processes that are a command line of ours.

They are a third of the time that `import pulumi` takes: what sets up tracing for Pulumi's own processes, and the
automation API, which is loaded when a program first asks for it.
"""

from __future__ import annotations

import importlib
import os
import sys
from types import ModuleType
from typing import Any

_TRACING = "pulumi.runtime._instrumentation"
_AUTOMATION = "pulumi.automation"
_USED_WITHOUT_IMPORT = ("email.message", "http.client", "urllib.request")
"""What the automation API loads of the standard library: a program may use it by `import urllib` alone."""


def load_sdk() -> None:
    """Imports `pulumi`, before anybody else does."""
    if "pulumi" in sys.modules:
        return
    left_out = {_AUTOMATION: ModuleType(_AUTOMATION)}
    # A caller's `TRACEPARENT` alone would make it take the place of the program's own tracing, and export nothing.
    if "PULUMI_OTEL_EXPORTER_OTLP_ENDPOINT" not in os.environ:
        left_out[_TRACING] = ModuleType(_TRACING)
    sys.modules.update(left_out)
    try:
        sdk: Any = importlib.import_module("pulumi")
    finally:
        # Whoever imports one of them from now on gets the real one.
        for name in left_out:
            sys.modules.pop(name, None)
    for name in _USED_WITHOUT_IMPORT:
        importlib.import_module(name)
    if hasattr(sdk, "__getattr__"):
        importlib.import_module(_AUTOMATION)
    elif vars(sdk).get("automation") is left_out[_AUTOMATION]:
        del sdk.automation
        sdk.__getattr__ = _late


def _late(name: str) -> Any:
    if name == "automation":
        return importlib.import_module(_AUTOMATION)
    raise AttributeError(f"module 'pulumi' has no attribute {name!r}")
