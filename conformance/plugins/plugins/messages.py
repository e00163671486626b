"""The messages of the pip package `pulumi`, without the rest of it, which takes half of a plugin's time to start."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

if "pulumi" not in sys.modules:
    found = importlib.util.find_spec("pulumi")
    folder = Path(found.origin).parent
    # Packages that have their modules, and none of the code of their `__init__`
    for name, path in (("pulumi", folder), ("pulumi.runtime", folder / "runtime")):
        package = ModuleType(name)
        package.__path__ = [str(path)]
        sys.modules[name] = package

from pulumi.runtime.proto import (
    engine_pb2,
    engine_pb2_grpc,
    plugin_pb2,
    provider_pb2,
    provider_pb2_grpc,
    resource_status_pb2,
    resource_status_pb2_grpc,
)

__all__ = [
    "engine_pb2",
    "engine_pb2_grpc",
    "plugin_pb2",
    "provider_pb2",
    "provider_pb2_grpc",
    "resource_status_pb2",
    "resource_status_pb2_grpc",
]
