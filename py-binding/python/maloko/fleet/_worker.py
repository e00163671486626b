"""Workers: processes that take stacks of a fleet and work on them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import platform
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner
from temporalio.worker import Worker as TemporalWorker

from maloko._sdk.load import load_sdk
from maloko.fleet._activities import StackActivities
from maloko.fleet._connection import connect
from maloko.fleet._ends import FleetError
from maloko.fleet._plan import Fleet
from maloko.fleet._printed import told_by_stack
from maloko.fleet._programs import load_programs
from maloko.fleet._queues import WorkerPrograms, flow_queue, stack_queue
from maloko.fleet._signals import ending_signals
from maloko.fleet._workflow import FleetRun

LOG = logging.getLogger("maloko.fleet")

_HEARD_WITHIN = timedelta(seconds=2)
"""Heartbeats are sent at least so often, and with them one hears of a cancelled run."""
_LANGUAGE = "python"


class Worker:
    """Works on stacks of a fleet, and on the workflows of its runs.

    :param fleet: the fleet, or the path of its file
    :param queues: the queues that it serves (`queue` in the fleet's file)
    :param slots: stacks at a time
    :param client: a connected client, in place of the one that the fleet names
    :param flow: whether it serves the workflows of runs, too
    """

    def __init__(
        self,
        fleet: Fleet | str | os.PathLike[str],
        *,
        queues: Sequence[str] = ("default",),
        slots: int = 8,
        client: Client | None = None,
        flow: bool = True,
    ) -> None:
        self._fleet = fleet if isinstance(fleet, Fleet) else Fleet(fleet)
        self._queues = tuple(dict.fromkeys(queues)) or ("default",)
        self._slots = slots
        self._client = client
        self._flow = flow
        self.identity = f"{platform.node()}:{os.getpid()}"
        """By what name runs tell of it."""

    def run(self) -> None:
        """Works until SIGTERM, Ctrl-C or the end of its terminal.

        What it is working on then ends in order, and others go on with it.

        :raises FleetError: when none of its programs can be loaded, the server cannot be reached, or this is not the
            main thread
        """
        if threading.current_thread() is not threading.main_thread():
            raise FleetError("`Worker.run` listens for signals, which only the main thread can: await `run_async` here")
        asyncio.run(self._until_told())

    async def _until_told(self) -> None:
        work = asyncio.create_task(self.run_async())
        loop = asyncio.get_running_loop()
        for number in ending_signals():
            loop.add_signal_handler(number, work.cancel)
        with contextlib.suppress(asyncio.CancelledError):
            await work

    async def run_async(self) -> None:
        """The same, until the task is cancelled.

        :raises FleetError: when none of its programs can be loaded, or the server cannot be reached
        """
        plan = self._fleet.plan("up")
        # With the first stack there is no time for that.
        load_sdk()
        mine = [it for it in plan["stacks"] if it["language"] == _LANGUAGE and it["queue"] in self._queues]
        for warning in await asyncio.to_thread(load_programs, Path(plan["directory"]), mine):
            LOG.warning("warning: %s", warning)
        client = self._client or await connect(plan["engine"])
        activities = StackActivities(Path(plan["directory"]), self.identity)
        async with contextlib.AsyncExitStack() as workers:
            workers.enter_context(told_by_stack())
            code = plan["code"].get(_LANGUAGE)
            if self._flow:
                flow = TemporalWorker(
                    client,
                    task_queue=flow_queue(plan["fleet"]),
                    workflows=[FleetRun],
                    # The workflow is this package's own, and does nothing that is not deterministic.
                    workflow_runner=UnsandboxedWorkflowRunner(),
                    workflow_task_executor=ThreadPoolExecutor(max_workers=4),
                    identity=WorkerPrograms(self.identity, code or "-", self._queues).name(),
                )
                await workers.enter_async_context(flow)
            if code is not None:
                for queue in self._queues:
                    await workers.enter_async_context(self._of_stacks(client, activities, plan["fleet"], queue, code))
            LOG.info("ready: %s", self._what_it_does(code is not None))
            await asyncio.Event().wait()

    def _what_it_does(self, has_programs: bool) -> str:
        if not has_programs:
            return f"the runs alone, for the fleet has no program in {_LANGUAGE}"
        stacks = "1 stack" if self._slots == 1 else f"{self._slots} stacks"
        return f"{stacks} at a time, {'queue' if len(self._queues) == 1 else 'queues'} {', '.join(self._queues)}"

    def _of_stacks(
        self, client: Client, activities: StackActivities, fleet: str, queue: str, code: str
    ) -> TemporalWorker:
        return TemporalWorker(
            client,
            task_queue=stack_queue(fleet, queue, _LANGUAGE, code),
            activities=[activities.stack, activities.stacks],
            max_concurrent_activities=self._slots,
            max_heartbeat_throttle_interval=_HEARD_WITHIN,
            default_heartbeat_throttle_interval=_HEARD_WITHIN,
            # Those that it works on end in order, and are begun elsewhere.
            graceful_shutdown_timeout=timedelta(0),
            identity=self.identity,
        )
