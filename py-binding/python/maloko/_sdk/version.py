"""Which SDK is installed, and what to say of one that maloko does not know."""

from __future__ import annotations

from functools import cache

from maloko._errors import MalokoError
from maloko._installed import version_of

TESTED_UP_TO = (3, 272)
"""The newest minor version of the SDK that the suites have run with."""

_TESTED = ".".join(map(str, TESTED_UP_TO))


@cache
def sdk_version() -> str:
    """The installed SDK's version."""
    return version_of("pulumi")


def newer_than_tested() -> str | None:
    """A warning when the SDK is newer than what was tested."""
    installed = sdk_version()
    numbers = tuple(int(part) for part in installed.split(".")[:2] if part.isdigit())
    if numbers <= TESTED_UP_TO:
        return None
    return f"pulumi {installed} is newer than what this maloko was tested with ({_TESTED}); tell us if something is odd"


def lacks(places: str) -> MalokoError:
    """The error for an SDK in which places that results depend on are missing."""
    return MalokoError(
        f"pulumi {sdk_version()} does not have {places}, which this maloko relies on; it was tested with pulumi up to "
        f"{_TESTED}: install such a version (pip install 'pulumi<={_TESTED}.999'), or a newer maloko"
    )
