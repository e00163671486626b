"""An engine for `pulumi.dynamic` resources that runs inside this process.

The command line is `maloko` (or `python -m maloko`). Programs need nothing from here; the exceptions are

- `register_provider`, for provider objects that cannot be found again from the state alone,
- `PartialFailure`, for providers whose object was made but did not start,
- `TryLater`, for providers whose service says that it cannot be asked now,
- `TypedProvider`, a base class for providers whose inputs and outputs are dataclasses or pydantic models, and
- `current_call`, for provider methods that take long and are to end when the run is cancelled, or
  that pass their operation key on to a service.
"""

from typing import TYPE_CHECKING, Any

from maloko._current import ProviderCall, current_call
from maloko._errors import MalokoError, PartialFailure, TryLater
from maloko._maloko import VERSION as __version__  # noqa: N811 the name that packages use
from maloko._maloko import require_main_interpreter
from maloko._providers.registered import register_provider

__all__ = [
    "MalokoError",
    "PartialFailure",
    "ProviderCall",
    "TryLater",
    "TypedProvider",
    "__version__",
    "current_call",
    "register_provider",
]

require_main_interpreter()

if TYPE_CHECKING:
    from maloko._providers.typed import TypedProvider


def __getattr__(name: str) -> Any:
    # With it comes the SDK, which takes its time to load.
    if name == "TypedProvider":
        from maloko._providers.typed import TypedProvider

        return TypedProvider
    raise AttributeError(f"module 'maloko' has no attribute {name!r}")
