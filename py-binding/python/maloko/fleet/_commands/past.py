"""Commands about what runs came to."""

from __future__ import annotations

import json
from typing import Any

from maloko.fleet._beside import operations_of, show_operation
from maloko.fleet._commands.find import newest_runs, order_of, run_of
from maloko.fleet._commands.request import Request, fleet_of, place_of
from maloko.fleet._commands.texts import short_urns, shown
from maloko.fleet._commands.watch import tell
from maloko.fleet._connection import connect
from maloko.fleet._ends import FleetError
from maloko.fleet._loop import waited_for
from maloko.fleet._wire import StackSpec


def results(asked: Request) -> int:
    """`fleet results`: waits for the end of a run, and tells what came of its stacks."""
    return tell(run_of(asked).result(), asked)


def history(asked: Request) -> int:
    """`fleet history`: the runs that the server keeps, the newest first; or what they did with a stack."""
    if asked.get("stack"):
        return _history_of_stack(asked)
    rows = waited_for(_history(asked))
    print(json.dumps(rows) if asked.get("json") else shown("runs", {"runs": rows}, asked.get("columns")))
    return 0


def _history_of_stack(asked: Request) -> int:
    plan = fleet_of(asked).plan("up")
    stack = _named(plan["stacks"], asked["stack"] or "", f"fleet {plan['fleet']}")
    told = operations_of(stack, plan)
    text = shown("past", {"stack": stack["id"], "operations": told}, asked.get("columns"))
    print(json.dumps(told) if asked.get("json") else text)
    return 0


async def _history(asked: Request) -> list[dict[str, Any]]:
    place = place_of(asked)
    client = await connect(place["engine"])
    rows: list[dict[str, Any]] = []
    for execution in await newest_runs(client, place["name"]):
        memo = await execution.memo()
        state = (execution.status.name if execution.status is not None else "").lower()
        if state == "completed":
            state = memo.get("outcome", state)
        elif state == "running" and memo.get("paused"):
            state = "paused"
        rows.append(
            {
                "run": execution.id,
                "verb": memo.get("verb", ""),
                "state": state,
                "started": execution.start_time.isoformat(timespec="seconds"),
                "stacks": memo.get("stacks", 0),
                "failed": memo.get("failed"),
                "message": memo.get("message", ""),
            }
        )
    return rows


def logs(asked: Request) -> int:
    """`fleet logs STACK`: what the run said that worked on the stack last, from the records beside its state."""
    run = run_of(asked)
    plan = waited_for(order_of(run))["plan"]
    stack = _named(plan["stacks"], asked["stack"] or "", f"run {run.id}")
    end = (
        next((end for end in run.result().ends if end.stack == stack["id"]), None)
        if run.progress().state == "ended"
        else None
    )
    if end is not None:
        why = f" ({end.reason})" if end.reason else ""
        print(f"{end.stack}: {end.outcome}{why}{f': {short_urns(end.text)}' if end.text else ''}")
    print(show_operation(stack, plan, run.id))
    return 0


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
