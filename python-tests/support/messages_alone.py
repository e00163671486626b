"""Makes `pulumi.runtime.proto` importable without the rest of the SDK: half of what a small process takes to start.

A process imports it before anything of `pulumi`.
"""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

assert "pulumi" not in sys.modules, "the SDK is loaded already"
found = importlib.util.find_spec("pulumi")
assert found is not None, "there is no SDK"
assert found.origin is not None, "there is no SDK"
folder = Path(found.origin).parent
# Packages that have their modules, and none of the code of their `__init__`.
for name, path in (("pulumi", folder), ("pulumi.runtime", folder / "runtime")):
    package = ModuleType(name)
    package.__path__ = [str(path)]
    sys.modules[name] = package
