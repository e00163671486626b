"""Does anybody ask for the work of a run?"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client

from maloko.fleet._queues import FLOW_LANGUAGE, flow_queue, stack_queue
from maloko.fleet._run import Run
from maloko.fleet._wire import Plan

_ASKS_AGAIN_WITHIN = timedelta(seconds=90)
"""A worker asks each minute; the server lists dead ones for longer."""


async def missing_workers(run: Run, plan: Plan) -> list[str]:
    """What to tell of the queues of a run at which no worker asks."""
    client: Client = run._client
    messages = []
    flow = flow_queue(plan["fleet"])
    if not await _is_polled(client, flow, TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW):
        messages.append(
            f"no worker serves the runs of this fleet ({flow}): start one with `maloko fleet worker`, of "
            f"{FLOW_LANGUAGE} and this version"
        )
    for queue, language in sorted({(stack["queue"], stack["language"]) for stack in plan["stacks"]}):
        code = plan["code"][language]
        if not await _is_polled(
            client, stack_queue(plan["fleet"], queue, language, code), TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY
        ):
            messages.append(
                f"no worker for {language} at the queue '{queue}' has these programs (code {code}): the stacks wait "
                f"for `maloko fleet worker --queue {queue}` where the programs are as here"
            )
    return messages


async def _is_polled(client: Client, name: str, kind: TaskQueueType.ValueType) -> bool:
    asked = DescribeTaskQueueRequest(namespace=client.namespace, task_queue=TaskQueue(name=name), task_queue_type=kind)
    pollers = (await client.workflow_service.describe_task_queue(asked)).pollers
    now = datetime.now(timezone.utc)
    return any(now - poller.last_access_time.ToDatetime(timezone.utc) < _ASKS_AGAIN_WITHIN for poller in pollers)
