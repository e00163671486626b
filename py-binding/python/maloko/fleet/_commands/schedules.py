"""`fleet schedules`: runs that begin by themselves. The server keeps the clock."""

from __future__ import annotations

import json
from collections.abc import Iterable
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
from maloko.fleet._commands.texts import say, tell_caller
from maloko.fleet._connection import connect
from maloko.fleet._loop import waited_for
from maloko.fleet._plan import Fleet
from maloko.fleet._queues import flow_queue
from maloko.fleet._run import memo_of
from maloko.fleet._wire import RUN, Order, RunOptions, verb_of
from maloko.fleet._wire import Schedule as Entry


def run(asked: Request) -> int:
    """Lists what the file says and what the server has; with `--apply` the server gets what the file says."""
    fleet = fleet_of(asked)
    return waited_for(_run(fleet, bool(asked.get("apply")), bool(asked.get("json"))))


async def _run(fleet: Fleet, apply: bool, as_json: bool) -> int:
    plan = fleet.plan("up")
    client = await connect(plan["engine"])
    wanted = plan["schedules"]
    there = await _there(client, plan["fleet"], wanted)
    deleted = [name for name in there if name not in wanted] if apply else []
    if apply:
        for name, entry in wanted.items():
            await _put(client, fleet, plan["fleet"], name, entry)
        for name in deleted:
            await client.get_schedule_handle(_id(plan["fleet"], name)).delete()
        there = {name: await _next(client, plan["fleet"], name) or "" for name in wanted}
    if as_json:
        rows = {
            name: {"file": wanted.get(name), "next": there.get(name), "onServer": name in there}
            for name in {*wanted, *there}
        }
        tell_caller(json.dumps(rows))
        return 0
    for name in sorted({*wanted, *there, *deleted}):
        where = "deleted" if name in deleted else _line(wanted.get(name), there.get(name))
        tell_caller(f"{name}: {where}")
    if not {*wanted, *there, *deleted}:
        say("there are no schedules: neither in the fleet's file nor on the server")
    if not apply and set(wanted) != set(there):
        say("`maloko fleet schedules --apply` makes the server's schedules those of the file")
    return 0


def _line(entry: Entry | None, next_run: str | None) -> str:
    if entry is None:
        return "only on the server; `--apply` deletes it"
    where = "not on the server" if next_run is None else f"next {next_run}" if next_run else "on the server"
    verb = f"{entry['verb']}{' --preview-only' if entry['previewOnly'] else ''}"
    select = f" of {' and '.join(entry['select'])}" if entry["select"] else ""
    jitter = f", up to {_period(entry['jitter'])} later" if entry["jitter"] else ""
    return f"{verb}{select} every {_period(entry['every'])}{jitter}, {where}"


async def _there(client: Client, fleet: str, wanted: Iterable[str]) -> dict[str, str]:
    """The schedules of the fleet that the server has, each with the time of its next run; empty where that is not
    known. The server's list is late: whether it has one, only that one itself says."""
    prefix = _id(fleet, "")
    listed = [it.id[len(prefix) :] async for it in await client.list_schedules() if it.id.startswith(prefix)]
    times = {name: await _next(client, fleet, name) for name in dict.fromkeys([*wanted, *listed])}
    return {name: time for name, time in times.items() if time is not None}


async def _next(client: Client, fleet: str, name: str) -> str | None:
    """When a schedule begins its next run; nothing where the server has no such schedule."""
    try:
        told = await client.get_schedule_handle(_id(fleet, name)).describe()
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
        return None
    times = told.info.next_action_times
    return times[0].isoformat(timespec="seconds") if times else ""


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
