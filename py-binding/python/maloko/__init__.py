"""An engine for `pulumi.dynamic` resources that runs inside this process.

The command line is `maloko` (or `python -m maloko`). Programs need nothing from here; the exceptions are

- `register_provider`, for provider objects that cannot be found again from the state alone, and
- `PartialFailure`, for providers whose object was made but did not start.
"""

from maloko._by_hand import register_provider
from maloko._errors import MalokoError, PartialFailure
from maloko._maloko import VERSION as __version__  # noqa: N811 the name that packages use

__all__ = ["MalokoError", "PartialFailure", "__version__", "register_provider"]
