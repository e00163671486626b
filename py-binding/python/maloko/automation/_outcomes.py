"""The outcome of a command, whichever process ran it."""

from __future__ import annotations

from dataclasses import dataclass

from pulumi.automation import CommandResult

from maloko._reasons import Why


@dataclass(frozen=True)
class Operation:
    """The outcome of an operation that has begun."""

    outcome: str
    """`succeeded`, `failed` or `cancelled`."""
    changes: dict[str, int]
    """Resources by what was done to them."""
    error: str | None
    """The first error in words."""
    exception: BaseException | None
    """The exception behind it."""
    urn: str | None
    """The resource that the first error is about."""
    method: str | None
    """The provider's method that it came from."""
    read: tuple[str, ...]
    """The other stacks that the program has read, each `PROJECT/STACK`."""
    warnings: tuple[str, ...] = ()
    """The first warnings, in a line each, without secrets."""
    differences: tuple[str, ...] = ()
    """Where it changes nothing, the first differences that it has found, in a line each, without secrets."""
    page: str | None = None
    """What was kept of the run for its page; `None` where it was too much."""


@dataclass(frozen=True)
class CommandOutcome:
    """The outcome of a command."""

    result: CommandResult
    """The exit code, stdout and stderr."""
    operation: Operation | None
    """The outcome of its operation; `None` when none has begun."""
    why: Why | None = None
    """Why it failed; `None` where it did not, or where nothing is known but its exit code."""
