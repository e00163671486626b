"""Commands that begin a run."""

from __future__ import annotations

import json
import sys

from maloko._errors import MalokoError
from maloko.fleet._beside import with_references
from maloko.fleet._commands.find import CHANGES, find, newest_runs, order_of
from maloko.fleet._commands.kept_workers import workers
from maloko.fleet._commands.pollers import missing_workers
from maloko.fleet._commands.request import Request, fleet_of
from maloko.fleet._commands.texts import say, stacks_in_words, tell_caller
from maloko.fleet._commands.watch import follow, say_it_goes_on, tell
from maloko.fleet._ends import FleetError
from maloko.fleet._loop import waited_for
from maloko.fleet._run import Run, start
from maloko.fleet._wire import Order, Plan, RunOptions, verb_of

_CANCELLED = 8
"""The exit code where somebody has said no, as of `maloko up`."""


def run(asked: Request) -> int:
    """`fleet up`, `preview`, `refresh`, `destroy`, `drift` and `outputs`."""
    verb = asked["command"]
    plan = fleet_of(asked).plan(
        "refresh" if verb == "drift" else verb,
        select=asked.get("select", []),
        stacks=asked.get("stacks", []),
        at_a_time=asked.get("atATime"),
        stop_after=asked.get("stopAfter"),
    )
    options: RunOptions = {
        "previewOnly": verb == "drift",
        "outputs": bool(asked.get("outputs")) or verb == "outputs",
        "message": asked.get("message") or "",
        "importFile": asked.get("importFile") or "",
    }
    return _begin(with_references(plan), options, asked)


def again(asked: Request) -> int:
    """`fleet retry`: a run of what failed, was skipped or was cancelled in another one, as the files are now."""

    async def left() -> tuple[str, Order, set[str]]:
        run = await find(asked, CHANGES)
        result = await run._result()
        return run.id, await order_of(run), {end.stack for end in result.ends if not end.succeeded}

    run, order, names = waited_for(left())
    if not names:
        raise FleetError(f"run {run} has nothing left: all its stacks succeeded")
    before = order["plan"]
    verb, at_a_time = before["verb"], before["limits"]["atATime"]
    fleet = fleet_of(asked)
    there = [stack["id"] for stack in fleet.plan(verb, at_a_time=at_a_time)["stacks"] if stack["id"] in names]
    gone = len(names) - len(there)
    if gone:
        say(f"{gone} of the {len(names)} stacks that are left of run {run} are no longer in the fleet's file")
    if not there:
        return 0
    plan = fleet.plan(verb, stacks=there, at_a_time=at_a_time)
    return _begin(with_references(plan), order["options"], asked)


def _begin(plan: Plan, options: RunOptions, asked: Request) -> int:
    verb = verb_of(plan, options)
    for warning in plan.get("warnings", ()):
        say(f"warning: {warning}")
    if plan["verb"] in CHANGES and not options["previewOnly"] and not _is_confirmed(verb, plan, asked):
        say("not confirmed; nothing was begun")
        return _CANCELLED
    run = start(plan, options)
    say(f"run {run.id}: {verb} of {stacks_in_words(plan)}")
    for other in waited_for(_others_under_way(run, plan["fleet"])):
        say(f"run {other} goes on, too: a stack that both work on waits until the other run has ended with it")
    with workers(asked, plan) as look:
        if asked.get("detach"):
            if asked.get("json"):
                tell_caller(json.dumps({"run": run.id}))
            say(f"`maloko fleet watch {run.id}` shows it, `maloko fleet cancel {run.id}` ends it")
            return 0
        if not asked.get("workers"):
            for message in waited_for(missing_workers(run, plan)):
                say(f"warning: {message}")
        try:
            result = follow(run, asked, look)
        except KeyboardInterrupt:
            if not _is_to_be_cancelled(asked):
                say_it_goes_on(run)
                return 0
            say("\ncancelling: what is in flight ends in order")
            run.cancel()
            result = follow(run, asked, look)
    return tell(result, asked)


async def _others_under_way(run: Run, fleet: str) -> list[str]:
    """The names of other runs of the fleet that have not ended."""
    runs = await newest_runs(run._client, fleet, under_way=True)
    return [other.execution.id for other in runs if other.execution.id != run.id]


def _is_confirmed(verb: str, plan: Plan, asked: Request) -> bool:
    if asked.get("yes"):
        return True
    if not asked.get("interactive"):
        command = asked["command"]
        raise MalokoError(f"`maloko fleet {command}` asks before it changes {stacks_in_words(plan)}: add --yes")
    return _answer(f"{verb} {stacks_in_words(plan)} of {plan['fleet']}?")


def _is_to_be_cancelled(asked: Request) -> bool:
    # Without the workers that this command has started nothing would go on.
    if asked.get("cancelOnInterrupt") or asked.get("workers"):
        return True
    return bool(asked.get("interactive")) and _answer("\ncancel the run? Otherwise it goes on without this command")


def _answer(question: str) -> bool:
    try:
        sys.stderr.write(f"{question} [y/N] ")
        sys.stderr.flush()
        return sys.stdin.readline().strip().lower() in ("y", "yes")
    except OSError:
        # The terminal is closed.
        return False
