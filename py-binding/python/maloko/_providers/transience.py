"""Whether a failure of a provider's method may pass: as the exception says it, or the provider's class."""

from __future__ import annotations

from typing import Any, NamedTuple

from maloko._errors import TryLater


class Transience(NamedTuple):
    """Whether a failure may pass."""

    transient: bool
    retry_after: float | None
    """Seconds until then, where the service said so."""


_LASTING = Transience(False, None)


def retryable_errors_of(provider: Any) -> tuple[type[BaseException], ...]:
    """The exceptions that the object's class declares as transient.

    :raises TypeError: when what it declares is something else
    """
    kind = type(provider)
    declared: Any = getattr(kind, "retryable_errors", ())
    classes = tuple(declared) if isinstance(declared, (tuple, list)) else (declared,)
    for one in classes:
        if not (isinstance(one, type) and issubclass(one, BaseException)):
            raise TypeError(
                f"retryable_errors of {kind.__qualname__} has {one!r}, which is no class of exceptions; write "
                "retryable_errors = (TimeoutError, ConnectionError)"
            )
    return classes


def transience_of(error: BaseException, provider: Any) -> Transience:
    """Whether the failure of a method of that provider may pass."""
    # By its real class: what it says of its class may be anything.
    kind = type(error)
    if issubclass(kind, TryLater):
        # A subclass may have forgotten it.
        seconds = vars(error).get("seconds")
        return Transience(True, seconds if isinstance(seconds, float) else None)
    return Transience(True, None) if issubclass(kind, retryable_errors_of(provider)) else _LASTING
