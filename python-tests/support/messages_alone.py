"""Has `pulumi.runtime.proto` loaded without the rest of the SDK, as the plugins of the recorded stories have it.

A process imports it before anything of `pulumi`.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "conformance" / "plugins" / "plugins"))
import messages  # noqa: F401
