"""One operation on a stack in memory, and its outcome."""

from __future__ import annotations

import contextvars
import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from json import dumps, loads  # bound before a provider can replace the module's own
from typing import TYPE_CHECKING, Any, TypeVar

from maloko._errors import MalokoError
from maloko._process.event_loops import is_loop_running
from maloko._run.quiet import QUIET_SECONDS, Quiet
from maloko.testing._operations._calls import Call
from maloko.testing._operations._plan import Plan, PlanEntry
from maloko.testing._values import decode

if TYPE_CHECKING:
    from maloko._maloko import TestStack
    from maloko._run.host import Host
    from maloko._run.program import Program

Result = TypeVar("Result")


class RunFailed(MalokoError):  # noqa: N818 it is what came of the run
    """An operation failed, and no exception of the program or of a provider says why."""

    def __init__(self, message: str, run: Run) -> None:
        super().__init__(message)
        self.run = run
        """The outcome of the operation."""


@dataclass
class Run:
    """The outcome of an operation."""

    verb: str
    """`preview`, `up`, `refresh`, `destroy` or `import`."""
    outcome: str
    """`succeeded`, `failed`, `cancelled`, or `crashed` at a point that a test chose."""
    error: str | None
    """The first error in words."""
    exception: BaseException | None
    """The exception that was raised first by the program or a provider method, as it was raised."""
    calls: list[Call]
    """What providers were asked."""
    diagnostics: list[tuple[str, str, str]]
    """Severity, URN and text of each message."""
    steps: list[tuple[str, str]]
    """Op and URN of each step that was done."""
    changes: dict[str, int]
    """Resources by op."""
    outputs: dict[str, Any]
    """The stack's outputs."""
    secret_outputs: list[str]
    """The paths of those that are secret."""
    points: list[dict[str, Any]]
    """The points at which it could have crashed: `label`, `number`, `kinds`."""
    struck: dict[str, Any] | None
    """Where it crashed (`point`) and how (`kind`); `None` when it did not."""
    seconds: float
    """The time that it took on the stack's clock."""
    plan: Plan = field(init=False)
    """What was done, or would be."""
    record: str | None = field(default=None, repr=False)
    """What was noted for its page (`pytest --maloko-page`)."""

    def messages(self, severity: str) -> list[str]:
        """The texts of one severity: `debug`, `info`, `output`, `warning`, `error`."""
        return [text for kind, _, text in self.diagnostics if kind == severity]

    def failure(self) -> BaseException | None:
        """What to raise when the run did not succeed."""
        if self.outcome == "succeeded":
            return None
        if self.exception is not None:
            return self.exception
        told = self.error or "; ".join(self.messages("error")) or f"the run was {self.outcome}"
        return RunFailed(f"{self.verb} {self.outcome}: {told}", self)


def execute(
    state: TestStack,
    host: Host,
    order: dict[str, Any],
    program: Program,
    started: Callable[[Any], None] | None = None,
    quiet: float = QUIET_SECONDS,
) -> tuple[dict[str, Any], BaseException | None]:
    """Runs a program against a stack in memory; gives the report, and the exception that was raised first.

    :param started: called with the run before the program begins.
    :param quiet: how many seconds the program may wait while nothing goes on.
    """
    from maloko._run.program import run_program

    host.watch = functools.partial(Quiet, quiet, host)
    try:
        run = state.begin(host, dumps(order))
        if started is not None:
            started(run)
        failure = run_program(host, run.engine, program)
        text, exception = run.finish(*(failure or (None, None)))
        report: dict[str, Any] = loads(text)
        return report, exception
    finally:
        host.close()


def run_of(verb: str, report: dict[str, Any], exception: BaseException | None) -> Run:
    """A report as tests see it."""
    run = Run(
        verb=verb,
        outcome=report["outcome"],
        error=report["error"],
        exception=exception,
        calls=[Call.of(call) for call in report["calls"]],
        diagnostics=[(it["severity"], it["urn"], it["message"]) for it in report["diagnostics"]],
        steps=[(op, urn) for op, urn in report["steps"]],
        changes=report["changes"],
        outputs=decode(report["outputs"]) or {},
        secret_outputs=report["secretOutputs"],
        points=report["points"],
        struck=report["struck"],
        seconds=report["seconds"],
        record=report.get("page"),
    )
    run.plan = Plan([PlanEntry.of(entry) for entry in report["plan"]], run)
    return run


def on_a_free_thread(work: Callable[[], Result]) -> Result:
    """Runs here, or, where an event loop is running (a notebook, an async test), on a thread of its own."""
    if not is_loop_running():
        return work()
    with ThreadPoolExecutor(1, "maloko-run") as thread:
        return thread.submit(contextvars.copy_context().run, work).result()
