"""Does anybody ask for the work of a run?"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client

from maloko.fleet._queues import FLOW_LANGUAGE, WorkerPrograms, flow_queue, stack_queue
from maloko.fleet._run import Run
from maloko.fleet._wire import Plan

_ASKS_AGAIN_WITHIN = timedelta(seconds=90)
"""A worker asks each minute; the server lists dead ones for longer."""


async def missing_workers(run: Run, plan: Plan) -> list[str]:
    """What to tell of the queues of a run at which no worker asks."""
    client: Client = run._client
    messages = []
    flow = flow_queue(plan["fleet"])
    if not await _pollers(client, flow, TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW):
        messages.append(
            f"no worker serves the runs of this fleet ({flow}): start one with `maloko fleet worker`, of "
            f"{FLOW_LANGUAGE} and this version"
        )
    return messages + await missing_programs(client, plan)


async def missing_programs(client: Client, plan: Plan) -> list[str]:
    """The same of the queues of its stacks."""
    messages = []
    for queue, language in sorted({(stack["queue"], stack["language"]) for stack in plan["stacks"]}):
        code = plan["code"][language]
        asked = stack_queue(plan["fleet"], queue, language, code)
        if await _pollers(client, asked, TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY):
            continue
        missing = f"no worker for {language} at the queue '{queue}' has these programs (code {code})"
        others = await _with_other_programs(client, plan["fleet"], queue, language, code)
        messages += [
            f"{missing}, and {other.worker} is there with other programs (code {other.code}): restart it where the "
            "programs are as here.\nWhat a run writes beside its program counts, too, and the directory where the "
            "backend is below it (`maloko help fleet-file`)"
            for other in others[:1]
        ] or [f"{missing}: the stacks wait for `maloko fleet worker --queue {queue}` where the programs are as here"]
    return messages


async def _with_other_programs(
    client: Client, fleet: str, queue: str, language: str, code: str
) -> list[WorkerPrograms]:
    names = await _pollers(client, flow_queue(fleet, language), TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW)
    told = [WorkerPrograms.of_name(name) for name in names]
    return [it for it in told if it is not None and queue in it.queues and it.code != code]


async def _pollers(client: Client, name: str, kind: TaskQueueType.ValueType) -> list[str]:
    """The names of the workers that ask there, the one first that asked last."""
    asked = DescribeTaskQueueRequest(namespace=client.namespace, task_queue=TaskQueue(name=name), task_queue_type=kind)
    pollers = (await client.workflow_service.describe_task_queue(asked)).pollers
    now = datetime.now(timezone.utc)
    times = {poller.identity: poller.last_access_time.ToDatetime(timezone.utc) for poller in pollers}
    names = sorted(times, key=lambda name: times[name], reverse=True)
    return [name for name in names if now - times[name] < _ASKS_AGAIN_WITHIN]
