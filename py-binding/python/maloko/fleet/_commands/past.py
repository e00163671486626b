"""Commands about what runs came to."""

from __future__ import annotations

import json
from typing import Any

from maloko.fleet._commands.find import newest_runs, run_of
from maloko.fleet._commands.request import Request, fleet_of, place_of
from maloko.fleet._commands.texts import progress_document, say, shown, tell_caller
from maloko.fleet._commands.watch import tell
from maloko.fleet._connection import connect
from maloko.fleet._ends import FleetError, NoAnswerError
from maloko.fleet._loop import waited_for
from maloko.fleet._run import Run
from maloko.fleet._wire import Plan, StackSpec

_UNREADABLE = "encrypted with another key than MALOKO_FLEET_KEY"
"""What the list says of a run that this process cannot read."""


def results(asked: Request) -> int:
    """`fleet results`: waits for the end of a run, and tells what came of its stacks."""
    run = run_of(asked)
    if not run.has_ended():
        _say_that_it_waits(run, asked)
    return tell(run.result(), asked)


def _say_that_it_waits(run: Run, asked: Request) -> None:
    say(f"run {run.id} has not ended: waiting for its end. Ctrl-C leaves it; the run goes on")
    try:
        say(shown("progress", progress_document(run.progress()), asked.get("columns")).split("\n", 1)[0])
    except NoAnswerError as error:
        say(f"warning: {error}")


def history(asked: Request) -> int:
    """`fleet history`: the runs that the server keeps, the newest first; or what they did with a stack."""
    if asked.get("stack"):
        return _history_of_stack(asked)
    rows = waited_for(_history(asked))
    tell_caller(json.dumps(rows) if asked.get("json") else shown("runs", {"runs": rows}, asked.get("columns")))
    return 0


def _history_of_stack(asked: Request) -> int:
    from maloko.fleet._beside import operations_of

    plan, stack = _stack_of(asked)
    told = operations_of(stack, plan)
    text = shown("past", {"stack": stack["id"], "operations": told}, asked.get("columns"))
    tell_caller(json.dumps(told) if asked.get("json") else text)
    return 0


async def _history(asked: Request) -> list[dict[str, Any]]:
    place = place_of(asked)
    client = await connect(place["engine"])
    rows: list[dict[str, Any]] = []
    names: set[str] = set()
    for run in await newest_runs(client, place["name"]):
        # The name alone is the newest run of that name.
        name = run.execution.id
        shown_as = f"{name}/{run.execution.run_id}" if name in names else name
        names.add(name)
        memo = run.memo or {"stacks": None, "message": _UNREADABLE}
        rows.append(
            {
                "run": shown_as,
                "verb": run.verb,
                "state": run.state,
                "started": run.execution.start_time.isoformat(timespec="seconds"),
                "stacks": memo.get("stacks", 0),
                "failed": memo.get("failed"),
                "message": memo.get("message", ""),
                "readable": run.memo is not None,
            }
        )
    return rows


def logs(asked: Request) -> int:
    """`fleet logs STACK`: what the last operation of a run on a stack did, from the records beside its state.

    No server is asked.
    """
    from maloko.fleet._beside import show_operation

    plan, stack = _stack_of(asked)
    tell_caller(show_operation(stack, plan, asked.get("run")))
    return 0


def _stack_of(asked: Request) -> tuple[Plan, StackSpec]:
    """The stack that the command names, as the fleet's file has it."""
    wanted = asked["stack"] or ""
    plan = fleet_of(asked).plan("up", stacks=[wanted])
    return plan, _named(plan["stacks"], wanted, f"fleet {plan['fleet']}")


def _named(stacks: list[StackSpec], wanted: str, whose: str) -> StackSpec:
    found = [stack for stack in stacks if wanted in (stack["id"], stack["stack"])]
    if not found:
        raise FleetError(f"{whose} has no stack '{wanted}'")
    if len(found) > 1:
        raise FleetError(f"'{wanted}' is several stacks of {whose}: write PROJECT/STACK")
    return found[0]


def page(asked: Request) -> int:
    """`fleet page`: a file that shows a run in a browser."""
    from maloko.fleet._commands.page import write

    return write(asked)
