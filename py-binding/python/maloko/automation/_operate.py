"""One operation on a stack, from its arguments to its end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from pulumi import automation as official

from maloko.automation import _running
from maloko.automation._command import Request, run_through
from maloko.automation._flags import flags
from maloko.automation._progress import EVERY, interval
from maloko.automation._workspace import LocalWorkspace


class OperationResult(NamedTuple):
    """A successful operation."""

    stdout: str
    stderr: str
    changes: dict[str, int]
    page: str | None
    """What was kept of the run for its page."""


def operate(
    stack: official.Stack, workspace: LocalWorkspace, verb: list[str], given: Mapping[str, Any]
) -> OperationResult:
    """Runs an operation, with the flags that the given arguments stand for.

    :raises CommandError: when it fails
    """
    program = given.get("program") or workspace.program
    kind = "auto.local" if program is None else "auto.inline"
    arguments = [*verb, *flags(given), "--exec-kind", kind, "--stack", stack.name]
    with _running.noted(stack) as runs:
        request = Request(
            program,
            given.get("on_event"),
            runs.append,
            given.get("on_progress"),
            interval(given.get("progress_every", EVERY)),
        )
        result = run_through(
            workspace.command,
            arguments,
            workspace.work_dir,
            workspace.variables(),
            given.get("on_output"),
            given.get("on_error"),
            request,
        )
    workspace.post_command_callback(stack.name)
    operation = request.operation
    if operation is None:
        return OperationResult(result.stdout, result.stderr, {}, None)
    return OperationResult(result.stdout, result.stderr, operation.changes, operation.page)
