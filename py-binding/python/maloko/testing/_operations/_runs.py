"""One operation on a stack in memory."""

from __future__ import annotations

import contextvars
import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from json import dumps, loads  # bound before a provider can replace the module's own
from typing import TYPE_CHECKING, Any, TypeVar

from maloko._process.event_loops import is_loop_running
from maloko._run.quiet import QUIET_SECONDS, Quiet
from maloko.testing._operations._calls import Call
from maloko.testing._operations._outcome import Plan, PlanEntry, Run
from maloko.testing._operations._policies import Remediation, Violation
from maloko.testing._values import decode

if TYPE_CHECKING:
    from maloko._maloko import TestStack
    from maloko._run.host import Host
    from maloko._run.program import Program

Result = TypeVar("Result")


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
        calls=[Call._of(call) for call in report["calls"]],
        diagnostics=[(it["severity"], it["urn"], it["message"]) for it in report["diagnostics"]],
        steps=[(op, urn) for op, urn in report["steps"]],
        changes=report["changes"],
        outputs=decode(report["outputs"]) or {},
        secret_outputs=report["secretOutputs"],
        _points=report["points"],
        _struck=report["struck"],
        seconds=report["seconds"],
        violations=[Violation(**told) for told in report["violations"]],
        remediations=[Remediation._of(told) for told in report["remediations"]],
        _refusal=report["refusal"],
        _record=report.get("page"),
    )
    run.plan = Plan([PlanEntry._of(entry) for entry in report["plan"]], run)
    return run


def on_a_free_thread(work: Callable[[], Result]) -> Result:
    """Runs here, or, where an event loop is running (a notebook, an async test), on a thread of its own."""
    if not is_loop_running():
        return work()
    with ThreadPoolExecutor(1, "maloko-run") as thread:
        return thread.submit(contextvars.copy_context().run, work).result()
