"""`fleet schedules`: runs that begin by themselves. The server keeps the clock."""

from __future__ import annotations

import json
from datetime import timedelta

from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
    ScheduleUpdate,
    ScheduleUpdateInput,
)
from temporalio.service import RPCError, RPCStatusCode

from maloko.fleet._commands.request import Request, fleet_of
from maloko.fleet._commands.texts import say
from maloko.fleet._connection import connect
from maloko.fleet._loop import waited_for
from maloko.fleet._plan import Fleet
from maloko.fleet._queues import flow_queue
from maloko.fleet._run import memo_of
from maloko.fleet._wire import Order, RunOptions, verb_of
from maloko.fleet._wire import Schedule as Entry
from maloko.fleet._workflow import RUN


def run(asked: Request) -> int:
    """Lists what the file says and what the server has; with `--apply` the server gets what the file says."""
    fleet = fleet_of(asked)
    return waited_for(_run(fleet, bool(asked.get("apply")), bool(asked.get("json"))))


async def _run(fleet: Fleet, apply: bool, as_json: bool) -> int:
    plan = fleet.plan("up")
    client = await connect(plan["engine"])
    wanted, there = plan["schedules"], await _there(client, plan["fleet"])
    if apply:
        for name, entry in wanted.items():
            await _put(client, fleet, plan["fleet"], name, entry)
        for name in there:
            if name not in wanted:
                await client.get_schedule_handle(_id(plan["fleet"], name)).delete()
        there = await _there(client, plan["fleet"])
    if as_json:
        rows = {
            name: {"file": wanted.get(name), "next": there.get(name), "onServer": name in there}
            for name in {*wanted, *there}
        }
        print(json.dumps(rows))
        return 0
    for name in sorted({*wanted, *there}):
        where = (
            "only on the server"
            if name not in wanted
            else "not on the server"
            if name not in there
            else f"next {there[name]}"
        )
        every = f" every {_period(wanted[name]['every'])}" if name in wanted else ""
        print(f"{name}: {wanted[name]['verb'] if name in wanted else 'a run'}{every}, {where}")
    if not apply and set(wanted) != set(there):
        say("`maloko fleet schedules --apply` makes the server's schedules those of the file")
    return 0


async def _there(client: Client, fleet: str) -> dict[str, str]:
    """The schedules of the fleet that the server has, each with the time of its next run."""
    prefix = _id(fleet, "")
    found = {}
    async for schedule in await client.list_schedules():
        if schedule.id.startswith(prefix):
            times = schedule.info.next_action_times if schedule.info is not None else []
            found[schedule.id[len(prefix) :]] = times[0].isoformat(timespec="seconds") if times else ""
    return found


async def _put(client: Client, fleet: Fleet, name: str, entry_name: str, entry: Entry) -> None:
    schedule = _schedule(fleet, name, entry_name, entry)
    try:
        await client.create_schedule(_id(name, entry_name), schedule)
    except Exception as error:
        if not _exists(error):
            raise

        async def update(_: ScheduleUpdateInput) -> ScheduleUpdate:
            return ScheduleUpdate(schedule)

        await client.get_schedule_handle(_id(name, entry_name)).update(update)


def _schedule(fleet: Fleet, name: str, entry_name: str, entry: Entry) -> Schedule:
    plan = fleet.plan(entry["verb"], select=entry["select"])
    options: RunOptions = {
        "previewOnly": entry["previewOnly"],
        "outputs": False,
        "message": f"schedule {entry_name}",
        "importFile": "",
    }
    order: Order = {"plan": plan, "options": options, "began": 0.0, "state": None}
    return Schedule(
        action=ScheduleActionStartWorkflow(
            RUN,
            order,
            id=f"{name}-{verb_of(plan, options)}-{entry_name}",
            task_queue=flow_queue(name),
            memo=memo_of(plan, options),
        ),
        spec=ScheduleSpec(
            intervals=[ScheduleIntervalSpec(every=timedelta(seconds=entry["every"]))],
            jitter=timedelta(seconds=entry["jitter"]),
        ),
        policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP),
    )


def _exists(error: Exception) -> bool:
    from temporalio.client import ScheduleAlreadyRunningError

    return isinstance(error, ScheduleAlreadyRunningError) or (
        isinstance(error, RPCError) and error.status is RPCStatusCode.ALREADY_EXISTS
    )


def _period(seconds: float) -> str:
    """A number of seconds in the largest unit that it is a whole number of, such as `6h`."""
    for name, unit in (("d", 86_400), ("h", 3600), ("m", 60)):
        if seconds % unit == 0:
            return f"{seconds / unit:.0f}{name}"
    return f"{seconds:g}s"


def _id(fleet: str, name: str) -> str:
    return f"{fleet}/schedule/{name}"
