"""What comes of a stack, as programs go on by it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from maloko._errors import MalokoError
from maloko._reasons import Reason
from maloko.fleet._wire import Outcome, StackEnd, is_success


class FleetError(MalokoError):
    """A fleet cannot be driven as it was asked for, or stacks of its run failed."""


class NoAnswerError(FleetError):
    """A run says nothing of itself for now; asked again, it may.

    :param is_stuck: whether a worker has taken it up and cannot go on
    """

    def __init__(self, run: str, *, is_stuck: bool = False) -> None:
        super().__init__(
            f"run {run} does not answer: its worker cannot go on with it. A worker with another MALOKO_FLEET_KEY "
            "cannot read it: start one with the key that the run was begun with"
            if is_stuck
            else f"run {run} does not answer: no worker serves the runs of its fleet just now, or the server is away. "
            "`maloko fleet worker` starts a worker"
        )


class UnreadableError(FleetError):
    """What the server keeps of a run is encrypted with another key than this process has.

    :param why: what is wrong with the key, and what to do
    """

    def __init__(self, why: str, run: str | None = None) -> None:
        super().__init__(f"{'the run' if run is None else f'run {run}'} is encrypted{why}")
        self._why = why

    def of(self, run: str) -> UnreadableError:
        """The same with the name of the run."""
        return UnreadableError(self._why, run)


@contextlib.contextmanager
def needs_packages() -> Iterator[None]:
    """Around an import of what needs the packages of the server.

    :raises FleetError: where they are missing
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "temporalio":
            raise
        raise FleetError("maloko.fleet needs more packages for this: pip install 'maloko[fleet]'") from None


@dataclass(frozen=True)
class End:
    """How a stack of a run ended."""

    stack: str
    """`PROJECT/STACK`."""
    outcome: Outcome
    """`done`, `unchanged` (nothing had to be done), `failed`, `skipped` or `cancelled`."""
    changes: dict[str, int] = field(default_factory=dict)
    """Resources by what was done to them; in a preview, by what would be."""
    reason: str = ""
    """The kind of failure, as `CommandError.reason` has it; `needs` or `stopped` for what was skipped; else empty."""
    text: str = ""
    """One line about it, without secrets."""
    urn: str | None = None
    """The resource that failed first."""
    method: str | None = None
    """The provider's method that failed."""
    retry_after: float | None = None
    """Seconds that the provider asks to wait."""
    needs: str | None = None
    """The stack that it refers to and that is not there."""
    read: tuple[str, ...] = ()
    """The other stacks that its program has read, each `PROJECT/STACK`."""
    warnings: tuple[str, ...] = ()
    """The first warnings of its last operation, in a line each, without secrets."""
    differences: tuple[str, ...] = ()
    """Of a preview or a look for drift, the first differences, in a line each, without secrets."""
    attempts: int = 1
    """How often it was begun."""
    seconds: float = 0.0
    """How long the last attempt took."""
    worker: str = ""
    """Who worked on it last."""
    outputs: dict[str, Any] | None = None
    """The stack's outputs, where they were asked for."""

    @property
    def succeeded(self) -> bool:
        """Is the stack as it was asked for?"""
        return is_success(self.outcome)

    @property
    def may_pass(self) -> bool:
        """May the same succeed when it is simply tried again? Engines other than Temporal go by this."""
        return self.outcome == "failed" and self.reason in MAY_PASS

    @staticmethod
    def of_wire(end: StackEnd) -> End:
        """What another process tells."""
        return End(
            stack=end["id"],
            outcome=end["outcome"],
            changes=end["changes"],
            reason=end["reason"],
            text=end["text"],
            urn=end.get("urn"),
            method=end.get("method"),
            retry_after=end.get("retryAfter"),
            needs=end.get("needs"),
            read=tuple(end.get("read") or ()),
            warnings=tuple(end.get("warnings") or ()),
            differences=tuple(end.get("differences") or ()),
            attempts=end["attempts"],
            seconds=end["seconds"],
            worker=end.get("worker", ""),
            outputs=end.get("outputs"),
        )

    def wire(self) -> StackEnd:
        """The same for another process; what is not known is left out."""
        told: StackEnd = {
            "id": self.stack,
            "outcome": self.outcome,
            "changes": self.changes,
            "reason": self.reason,
            "text": self.text,
            "attempts": self.attempts,
            "seconds": round(self.seconds, 3),
        }
        if self.urn is not None:
            told["urn"] = self.urn
        if self.method is not None:
            told["method"] = self.method
        if self.retry_after is not None:
            told["retryAfter"] = self.retry_after
        if self.needs is not None:
            told["needs"] = self.needs
        if self.read:
            told["read"] = list(self.read)
        if self.warnings:
            told["warnings"] = list(self.warnings)
        if self.differences:
            told["differences"] = list(self.differences)
        if self.worker:
            told["worker"] = self.worker
        if self.outputs is not None:
            told["outputs"] = self.outputs
        return told


MAY_PASS = frozenset(reason.value for reason in Reason if reason.may_pass)
