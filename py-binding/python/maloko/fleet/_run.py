"""A run of a fleet, from wherever it is watched."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Iterator
from dataclasses import dataclass
from typing import Any

from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.exceptions import CancelledError
from temporalio.service import RPCError, RPCStatusCode

from maloko.fleet._connection import connect
from maloko.fleet._ends import End, FleetError, NoAnswerError, UnreadableError
from maloko.fleet._loop import awaited, waited_for
from maloko.fleet._progress import Progress, asked, described, has_ended, progress_of, refused
from maloko.fleet._queues import flow_queue
from maloko.fleet._wire import RUN, Engine, Order, Plan, RunOptions, verb_of

_PAGE = 500
_LOOK_SECONDS = 0.5
"""How often it is looked which stacks have ended."""
_AGAIN_SECONDS = 1.0
"""Between two questions that nobody has answered."""
_NAMED = 3
"""Failures that a message names."""


@dataclass(frozen=True)
class Result:
    """How a run ended."""

    run: str
    fleet: str
    verb: str
    outcome: str
    """`done`, `failed` (a stack failed or was skipped) or `cancelled`."""
    stopped: str
    """Why it stopped before its last stack; empty where it did not."""
    seconds: float
    counts: dict[str, int]
    """How many stacks ended with which outcome."""
    ends: list[End]
    """In the order in which they ended."""

    def raise_for_failures(self) -> None:
        """Raises a `FleetError` that names the first stacks that did not succeed, if there is one."""
        left = [end for end in self.ends if not end.succeeded]
        if not left:
            return
        named = "".join(f"\n  {end.stack} {end.outcome}: {end.text}" for end in left[:_NAMED])
        more = f"\n  and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
        raise FleetError(f"run {self.run}: {len(left)} of {len(self.ends)} stacks did not succeed{named}{more}")


class Run:
    """A run of a fleet. Any number of processes may hold one for the same run; it goes on without them."""

    def __init__(self, client: Client, handle: WorkflowHandle[Any, Any]) -> None:
        self._client = client
        self._handle = handle
        self.id: str = handle.id if handle.run_id is None else f"{handle.id}/{handle.run_id}"
        """Its name: `FLEET-VERB-HASH`, the same for the same stacks and settings. One of several of a name has the
        server's own id, behind a `/`, where it was attached to by that."""

    def progress(self) -> Progress:
        """Counts, and the stacks that are worth a look.

        :raises FleetError: when nobody answers: no worker serves the run just now, or the server is away
        """
        return waited_for(progress_of(self.id, self._handle))

    async def progress_async(self) -> Progress:
        """The same as `progress`, to be awaited."""
        return await awaited(progress_of(self.id, self._handle))

    def ends(self) -> Ends:
        """The stacks as they end, until the last one has: for `for`, and for `async for`.

        While no worker serves the run or the server is away, it waits: each second it asks again. The caller ends that
        by leaving the loop, or by cancelling the task that is in it.

        :raises FleetError: when the server does not know the run, or the run cannot be read with this key
        """
        return Ends(self)

    def ends_async(self) -> AsyncIterator[End]:
        """The same as `ends`, for `async for` alone."""
        return Ends(self)

    def result(self) -> Result:
        """Waits for the end of the run, as `ends` does: also while no worker serves it or the server is away.

        :raises FleetError: when its workflow failed or was ended by force, or the run cannot be read with this key
        """
        return waited_for(self._result())

    async def result_async(self) -> Result:
        """The same as `result`, to be awaited."""
        return await awaited(self._result())

    def has_ended(self) -> bool:
        """Has its last stack ended? The server says so; no worker is asked."""
        return has_ended(waited_for(described(self._handle)))

    def pause(self) -> None:
        """Nothing begins until `resume`; what is running goes on."""
        waited_for(self._tell(self._handle.signal("pause")))

    def resume(self) -> None:
        """Stacks begin again."""
        waited_for(self._tell(self._handle.signal("resume")))

    def cancel(self) -> None:
        """Ends the run in order: providers are told, nothing new begins, and what is in flight is recorded."""
        waited_for(self._tell(self._handle.cancel()))

    async def _tell(self, telling: Awaitable[None]) -> None:
        try:
            await telling
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise refused(self.id, error) from None
            raise FleetError(
                f"run {self.id} has ended: there is nothing left to pause, resume or cancel. "
                "`maloko fleet retry` begins its failed stacks again"
            ) from None

    async def _page(self, since: int) -> tuple[list[End], bool]:
        """What has ended from a number on, and whether all have. Waits a moment where nothing is told."""
        try:
            page = await self._ends(since)
            if page:
                return page, False
            if has_ended(await described(self._handle)):
                # What ended between the two questions.
                return await self._ends(since), True
        except NoAnswerError:
            await asyncio.sleep(_AGAIN_SECONDS)
            return [], False
        await asyncio.sleep(_LOOK_SECONDS)
        return [], False

    async def _ends(self, since: int) -> list[End]:
        told = await asked(self._handle, "ends", since, _PAGE)
        return [End.of_wire(end) for end in told]

    async def all_ends(self) -> list[End]:
        """What has ended so far; on the loop of the clients."""
        ends: list[End] = []
        while page := await self._ends(len(ends)):
            ends += page
        return ends

    async def _result(self) -> Result:
        while True:
            try:
                return await self._told_result()
            except NoAnswerError:
                await asyncio.sleep(_AGAIN_SECONDS)

    async def _told_result(self) -> Result:
        try:
            told = await self._handle.result()
        except WorkflowFailureError as error:
            if isinstance(error.cause, CancelledError):
                return await self._cancelled()
            raise FleetError(f"run {self.id} was ended from outside: {error.cause}") from None
        except RPCError as error:
            raise refused(self.id, error) from None
        except UnreadableError as error:
            raise error.of(self.id) from None
        ends = [End.of_wire(end) for end in told["ends"]]
        return Result(
            self.id,
            told["fleet"],
            told["verb"],
            told["outcome"],
            told["stopped"],
            told["seconds"],
            told["counts"],
            ends,
        )

    async def _cancelled(self) -> Result:
        """A workflow that was cancelled has no result; it still answers."""
        progress = await asked(self._handle, "progress")
        ends = await self.all_ends()
        seconds = round(progress["now"] - progress["began"], 3)
        counts = progress["counts"]
        return Result(
            self.id, progress["fleet"], progress["verb"], "cancelled", progress["stopped"], seconds, counts, ends
        )


class Ends:
    """The stacks of a run as they end, once: an iterator, and an asynchronous one."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._page: list[End] = []
        self._since = 0
        self._is_over = False

    def __iter__(self) -> Iterator[End]:
        return self

    def __next__(self) -> End:
        while not self._page and not self._is_over:
            self._take(waited_for(self._run._page(self._since)))
        if not self._page:
            raise StopIteration
        return self._page.pop(0)

    def __aiter__(self) -> AsyncIterator[End]:
        return self

    async def __anext__(self) -> End:
        while not self._page and not self._is_over:
            self._take(await awaited(self._run._page(self._since)))
        if not self._page:
            raise StopAsyncIteration
        return self._page.pop(0)

    def _take(self, told: tuple[list[End], bool]) -> None:
        page, over = told
        self._page = list(page)
        self._since += len(page)
        self._is_over = over and not page


def start(plan: Plan, options: RunOptions) -> Run:
    """Begins a run, or gives the one that does the same already."""
    return waited_for(start_async(plan, options))


async def start_async(plan: Plan, options: RunOptions, client: Client | None = None) -> Run:
    """The same; on the loop of the clients."""
    client = client or await connect(plan["engine"])
    order: Order = {"plan": plan, "options": options, "began": 0.0, "state": None}
    handle: WorkflowHandle[Any, Any] = await client.start_workflow(
        RUN,
        order,
        id=run_name(plan, options),
        task_queue=flow_queue(plan["fleet"]),
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        memo=memo_of(plan, options),
    )
    return Run(client, handle)


def memo_of(plan: Plan, options: RunOptions) -> dict[str, Any]:
    """What a run's record at the server says of it."""
    return {
        "fleet": plan["fleet"],
        "verb": verb_of(plan, options),
        "stacks": len(plan["stacks"]),
        "message": options["message"],
    }


def run_name(plan: Plan, options: RunOptions) -> str:
    """What a run is called: the same plan has the same name, so that it is one run that does it."""
    return f"{plan['fleet']}-{verb_of(plan, options)}-{plan['hash'][:8]}"


def attach(run: str, engine: str | Engine | None = None) -> Run:
    """A run that goes on or has ended.

    :param run: its name; of several with the same name that is the newest one, and `NAME/ID` one of the others, as
        `maloko fleet history` shows it
    :param engine: the server, such as `temporal://127.0.0.1:7233/default`; else Temporal's own variables say it
    :raises FleetError: when there is no run of that name
    """
    return waited_for(attach_async(run, _engine_of(engine) if isinstance(engine, str) else engine))


async def attach_async(run: str, engine: Engine | None, client: Client | None = None) -> Run:
    """The same; on the loop of the clients."""
    client = client or await connect(engine)
    name, _, number = run.partition("/")
    handle: WorkflowHandle[Any, Any] = client.get_workflow_handle(name, run_id=number or None)
    await described(handle)
    return Run(client, handle)


def _engine_of(address: str) -> Engine:
    scheme, _, rest = address.partition("://")
    if scheme != "temporal" or not rest:
        raise FleetError(f"the engine '{address}' is no temporal://HOST:PORT/NAMESPACE")
    place, _, namespace = rest.partition("/")
    return {"address": place, "namespace": namespace or "default"}
