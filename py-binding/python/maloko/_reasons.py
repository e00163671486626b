"""Why an operation did not do what was asked, as an object that programs go on by."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum
from typing import Any


class Reason(str, Enum):
    """The kinds of reasons for which a command fails. Each is a `str`, too: `error.reason == "locked"`."""

    LOCKED = "locked"
    """Somebody else works on the stack; `holder` says who."""
    LEASE_LOST = "lease-lost"
    """The lock on the stack was lost while the run went on: taken over, or by `cancel`."""
    BACKEND = "backend"
    """The backend cannot be reached, or cannot be read or written."""
    PROVIDER = "provider"
    """A method of a provider failed."""
    NEEDS = "needs"
    """The program refers to a stack that does not exist; `needs` says which."""
    INPUTS = "inputs"
    """A provider's check refused what the program gives it."""
    PROGRAM = "program"
    """The program failed, or asks for what cannot be."""
    POLICY = "policy"
    """A mandatory policy was violated, or a policy pack failed."""
    KEY = "key"
    """The key of the stack's secrets is missing or wrong."""
    DAMAGED = "damaged"
    """The state or the journal cannot be used as it is."""
    CONFIGURATION = "configuration"
    """An argument, a setting or a file of the project is wrong."""
    NO_STACK = "no-stack"
    """There is no such stack."""
    STACK_EXISTS = "stack-exists"
    """There is a stack of that name already."""
    PLAN = "plan"
    """The run does not do what its plan says."""
    PROTECTED = "protected"
    """A protected resource would be deleted."""
    UNEXPECTED_CHANGES = "unexpected-changes"
    """There were changes, and none were expected."""
    CANCELLED = "cancelled"
    """It was stopped."""
    OTHER = "other"
    """Anything else."""

    @property
    def may_pass(self) -> bool:
        """May the same command succeed when it is simply tried again? A `provider`'s failure may, or may not."""
        return self in _MAY_PASS


_MAY_PASS = frozenset({Reason.LOCKED, Reason.LEASE_LOST, Reason.BACKEND})


@dataclass(frozen=True)
class Holder:
    """Who works on a stack. What is not known is empty."""

    user: str
    host: str
    pid: int
    since: str
    """When it began, RFC 3339."""
    operation: str
    """The command that it runs."""
    run: str | None
    """The piece of work that it is an attempt at, where `MALOKO_ATTEMPT` says so."""
    attempt: int | None
    """Which attempt."""


@dataclass(frozen=True)
class Why:
    """Why a command failed."""

    reason: Reason
    text: str
    """The first line of its message, without secrets; may be empty."""
    holder: Holder | None
    transient: bool
    """Does the provider that failed say that it may pass?"""
    retry_after: float | None
    """Seconds to wait before it is tried again, where the provider says so."""
    needs: str | None
    """The stack that the program refers to and that does not exist, where that is the reason: `project/stack`."""


def why_of(told: dict[str, Any]) -> Why:
    """What the engine tells, as an object."""
    holder = told["holder"]
    return Why(
        Reason(told["reason"]),
        told["text"],
        None if holder is None else Holder(**holder),
        told["transient"],
        told["retryAfter"],
        told["needs"],
    )


def why_of_json(text: str | None) -> Why | None:
    """The same of JSON; `None` where nothing failed."""
    return None if text is None else why_of(json.loads(text))
