"""Fleets: thousands of stacks on many machines, by way of a Temporal server of your own.

    from maloko import fleet

    run = fleet.load("fleet.yaml").up(select="tenant=a*")
    for end in run.ends():
        print(end.stack, end.outcome, end.changes)
    run.result().raise_for_failures()

`pip install 'maloko[fleet]'` brings what it needs; `deploy_one`, the step for other engines, needs nothing more.
`maloko help fleets` has the guide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from maloko.fleet._ends import End, FleetError, needs_packages
from maloko.fleet._plan import Fleet, Stack, load

if TYPE_CHECKING:
    from maloko.fleet._deploy import deploy_one
    from maloko.fleet._progress import Progress, StackProgress
    from maloko.fleet._run import Result, Run, attach
    from maloko.fleet._worker import Worker

__all__ = [
    "End",
    "Fleet",
    "FleetError",
    "Progress",
    "Result",
    "Run",
    "Stack",
    "StackProgress",
    "Worker",
    "attach",
    "deploy_one",
    "load",
]

_OF_TEMPORAL = {
    "Progress": "_progress",
    "Result": "_run",
    "Run": "_run",
    "StackProgress": "_progress",
    "Worker": "_worker",
    "attach": "_run",
}
"""What needs the packages of the server, and the module that has it."""


def __getattr__(name: str) -> Any:
    import importlib

    if name == "deploy_one":
        # It loads the SDK, which nobody needs who asks after a run.
        return importlib.import_module("maloko.fleet._deploy").deploy_one
    module = _OF_TEMPORAL.get(name)
    if module is None:
        raise AttributeError(f"module 'maloko.fleet' has no attribute {name!r}")
    with needs_packages():
        return getattr(importlib.import_module(f"maloko.fleet.{module}"), name)
