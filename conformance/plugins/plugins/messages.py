"""The messages of the pip package `pulumi`, without the rest of it, which takes half of a plugin's time to start.

Of its messages there is what plugins use, and of gRPC nothing for asyncio: a tenth of the time that is left.
"""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

if "pulumi" not in sys.modules:
    found = importlib.util.find_spec("pulumi")
    folder = Path(found.origin).parent
    # Packages that have their modules, and none of the code of their `__init__`
    for name in ("pulumi", "pulumi.runtime", "pulumi.runtime.proto"):
        package = ModuleType(name)
        package.__path__ = [str(folder.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = package
    # `import grpc` would import it.
    sys.modules.setdefault("grpc.aio", ModuleType("grpc.aio"))

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
