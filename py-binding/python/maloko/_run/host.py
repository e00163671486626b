"""What one run has in Python: its live provider objects, its loops and threads. The native host asks it."""

from __future__ import annotations

import _thread
import asyncio
import contextlib
import contextvars
import threading
import time
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from maloko._current import CURRENT_CALL, ProviderCall
from maloko._maloko import CallFailure, Cause, SerializedObject
from maloko._process.event_loops import ProviderLoop, is_unclaimed, leave_to_parent
from maloko._process.forks import leave_to_parent_on_fork
from maloko._process.tracebacks import format_error
from maloko._providers.calls import Answer, call_provider, failed, refused
from maloko._providers.changed_variables import Traps
from maloko._providers.configured import ClaimsOfRun
from maloko._providers.copies import ProviderInUse
from maloko._providers.registry import HANDLE_PREFIX, Description, Reference, Registry, Unloadable
from maloko._providers.tracing import below_call
from maloko._run.calls_on_loop import CallsOnLoop
from maloko._run.module_bodies import ModuleBodies
from maloko._sdk import outputs

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from maloko._maloko import Completion, Engine, Pool


class Watch(Protocol):
    """Looks after a program from its event loop, and may cancel its task."""

    found: BaseException | None
    """Why the program was cancelled."""

    def end(self) -> None:
        """Called on the loop's thread when the program has ended."""


_start_new_thread = _thread.start_new_thread
"""As it is now: programs may put their own in its place."""
_PATIENCE_SECONDS = 2.0
"""How long a thread is waited for that has nothing left to do."""
_PATIENCE_FOR_GIVEN_UP = 0.2
"""The same, where a method goes on that nobody waits for any longer."""


_NAMED = 10
"""So many names are listed in a message."""


class Callbacks(dict[str, Callable[[bytes], Any]]):
    """Functions by token, each with the context in which the SDK took it, where it keeps what it knows of the run."""

    def __init__(self) -> None:
        super().__init__()
        self.contexts: dict[str, contextvars.Context] = {}

    def __setitem__(self, token: str, function: Callable[[bytes], Any]) -> None:
        self.contexts[token] = contextvars.copy_context()
        super().__setitem__(token, function)


class Host:
    """The Python half of a run. Made before the run's engine, closed after its end."""

    def __init__(self) -> None:
        self.registry = Registry()
        self.claims = ClaimsOfRun()
        """The provider objects that were configured for this run."""
        self.traps = Traps()
        self.context = contextvars.copy_context()
        """Where provider methods run that no registration asked for: the program's context once there is a program."""
        self.loop: asyncio.AbstractEventLoop | None = None
        """The event loop of the program."""
        self.calls_on_loop = CallsOnLoop()
        """The calls of transforms and hooks that wait for that loop."""
        self.callbacks = Callbacks()
        """The program's transforms and hooks by token."""
        self.callback_names: dict[str, str] = {}
        """The names of the functions among them that have one."""
        self.declared: dict[tuple[str, str], tuple[type, frozenset[str]]] = {}
        """For the first resource of each class, by type and name: the output names that the program can read."""
        self.bodies: ModuleBodies | None = None
        """For programs that may run again with the modules that are loaded: what their bodies register."""
        self.engine: Engine | None = None
        self.watch: Callable[[asyncio.AbstractEventLoop, Any, asyncio.Task[None]], Watch] | None = None
        """What is to look after the program while it runs."""
        self.on_close = contextlib.ExitStack()
        """What the run changed in the process and is put back at its end."""
        own = weakref.ref(self)  # A run that is over goes at once, and does not wait for the collector.

        def task_failed(task: asyncio.Task[Any]) -> None:
            host = own()
            if host is not None:
                host._task_failed(task)

        self._provider_loop = ProviderLoop(task_failed)
        self._pool: Pool | None = None
        self.makers: dict[type, tuple[str, type]] = {}
        """The type token and the provider's class of each class of resources that was made."""
        self._changed: set[str] = set()
        self._outside_loop = threading.Lock()
        self._calls: dict[int, ProviderCall] = {}
        self._failed_tasks: dict[ProviderCall, list[asyncio.Task[Any]]] = {}
        """Tasks that failed while the call goes on that has made them: it may still take their errors."""
        self._cancelled: set[int] = set()
        self._workers: list[threading.Thread] = []
        leave_to_parent_on_fork(self)

    def leave_to_parent(self) -> None:
        """In a process that was forked off the run: leaves its loops and threads to the run."""
        self._provider_loop.leave_to_parent()
        if self.loop is not None:
            leave_to_parent(self.loop)
        self.claims.leave_to_parent()
        self._workers = []

    def attach_pool(self, pool: Pool) -> None:
        """Takes the pool that the native half made."""
        self._pool = pool

    def start_worker(self) -> None:
        """Starts a thread that polls the engine's tasks. A daemon: a method that hangs must not keep the process."""
        if self._pool is None:
            return
        try:
            thread = threading.Thread(target=_work, args=(self._pool,), name="maloko-worker", daemon=True)
            thread.start()
        except Exception:  # The program may have put anything in the place of what threads are made of.
            _start_new_thread(_work, (self._pool,))
        else:
            self._workers.append(thread)

    def close(self) -> bool:
        """Ends the loops and the threads; puts back what the run changed in the process.

        Returns whether all threads have ended. One that sits in a provider method has not; the interpreter cannot be
        shut down under it.
        """
        if self._pool is not None:
            self._pool.close()
        self._provider_loop.close()
        # What was cancelled and has not ended yet may never end.
        given_up = any(number in self._calls for number in self._cancelled)
        patience = time.monotonic() + (_PATIENCE_FOR_GIVEN_UP if given_up else _PATIENCE_SECONDS)
        for worker in self._workers:
            worker.join(timeout=max(0.0, patience - time.monotonic()))
        ended = not any(worker.is_alive() for worker in self._workers)
        self.on_close.close()
        self.claims.release()
        # The native half refers to this object, where no garbage collector sees it: keep nothing that is large.
        self.registry = Registry()
        self.traps = Traps()
        self.context = contextvars.Context()
        self.callbacks = Callbacks()
        self.callback_names.clear()
        self.loop = self.engine = self._pool = None
        return ended

    @property
    def is_calling(self) -> bool:
        """Is a provider method running?"""
        return bool(self._calls)

    def handle(self, provider: Any) -> str:
        """The short text that stands for an object in a registration."""
        return f"{HANDLE_PREFIX}{self.registry.number(provider)}"

    def describe(self, number: int) -> Description:
        """What the engine learns of an object."""
        return self.registry.describe(number)

    def find(self, language: str, module: str, name: str, attributes: str | None) -> int | None:
        """The number of an object of the program with that complete reference, `None` when there is none."""
        return self.registry.find(Reference(module, name, attributes, None)) if language == "python" else None

    def is_by_hand(self, language: str, module: str, name: str) -> bool:
        """Did the program register a factory for that class?"""
        return language == "python" and self.context.copy().run(self.registry.is_by_hand, module, name)

    def rebuild(
        self, language: str, module: str, name: str, attributes: str | None, incomplete: str | None
    ) -> int | CallFailure | None:
        """The number of the object that a stored reference stands for, `None` when it cannot be found."""
        if language != "python":
            return None
        try:
            return self.context.copy().run(self.registry.rebuild, Reference(module, name, attributes, incomplete))
        except Unloadable as error:
            return failed(error.__cause__ or error, Cause.Unloadable)
        except BaseException as error:  # the user's factory may raise anything
            return failed(error)

    def named(
        self, language: str, module: str, name: str, _attributes: str | None, _incomplete: str | None
    ) -> int | CallFailure | None:
        """The number of the provider that a user named by its place, `None` when there is none."""
        if language != "python":
            return None
        try:
            return self.context.copy().run(self.registry.named, module, name)
        except BaseException as error:  # the user's module or constructor may raise anything
            return failed(error)

    def serialize(self, number: int) -> SerializedObject | CallFailure:
        """The object as the SDK itself would have stored it, and whether that is to be a secret."""
        from maloko._sdk.serializer import serialized

        provider = self.registry.entry(number).provider

        def serialize() -> SerializedObject:
            # The serialiser waits for the Outputs that the object has captured, on the loop that they belong to.
            asyncio.set_event_loop(self.loop)
            try:
                return SerializedObject(*serialized(provider))
            finally:
                asyncio.set_event_loop(None)

        # It also changes the pickler of the whole process while it works: one after the other.
        with self._outside_loop:
            try:
                return self.context.copy().run(serialize)
            except BaseException as error:  # what is in the object may raise anything
                return failed(error)

    def call(
        self,
        of: tuple[int, int],
        call_number: int,
        urn: str,
        method: str,
        arguments: tuple[Any, ...],
        context: contextvars.Context | None,
        complete: Completion,
        operation_key: str = "",
        trace: tuple[str, str | None] | None = None,
    ) -> Answer | None:
        """Calls a method; `None` means that `complete` is called with the answer later.

        `of`: the numbers of the provider object and of what it is configured with.
        """
        number, configuration = of
        entry = self.registry.entry(number)
        provider = entry.provider
        if method in ("create", "update"):
            self._changed.add(urn)
        warning = self.traps.warning(provider, urn, method)
        if warning is not None and self.engine is not None:
            self.engine.log(urn, 2, warning)
        note_used_key = self.engine.note_used_key if operation_key and self.engine is not None else None
        call = self._calls[call_number] = ProviderCall(urn, method, operation_key, note_used_key)
        if call_number in self._cancelled:
            call.cancel()

        def left() -> None:
            self._calls.pop(call_number, None)
            for task in self._failed_tasks.pop(call, ()):
                self._tell_of_failed(call, task)

        ended: Callable[[], object] = left
        if entry.methods.configure:
            config = arguments[0] if method == "configure" else None
            try:
                # In the program's context: a factory may have to make the object.
                provider, ended = self.context.copy().run(
                    self.claims.of(configuration).begin, number, provider, entry.taken, method, config, ended
                )
            except BaseException as error:  # the user's factory may raise anything
                left()
                return refused(error) if isinstance(error, ProviderInUse) else failed(error)
        context = below_call(trace, context or self.context)
        return call_provider(provider, call, arguments, context, self._provider_loop, complete, ended)

    def _task_failed(self, task: asyncio.Task[Any]) -> None:
        call = CURRENT_CALL.get()
        if call is None:
            return
        if call in list(self._calls.values()):
            self._failed_tasks.setdefault(call, []).append(task)
        else:
            self._tell_of_failed(call, task)

    def _tell_of_failed(self, call: ProviderCall, task: asyncio.Task[Any]) -> None:
        """Tells of an error that a method's task has raised and that nobody will take."""
        if is_unclaimed(task) and self.engine is not None and (error := task.exception()) is not None:
            text = format_error(error).rstrip()
            self.engine.log(call.urn, 2, f"an error was raised in `{call.method}` that nobody waits for:\n{text}")

    def cancel(self, numbers: list[int]) -> None:
        """Tells the code of calls, by their numbers, that nobody waits for them any longer."""
        # A call that begins meanwhile looks into the set after it has entered itself.
        self._cancelled.update(numbers)
        for number in numbers:
            call = self._calls.get(number)
            if call is not None:
                call.cancel()

    def callback(self, token: str, request: bytes, complete: Completion) -> None:
        """Calls a transform or hook of the program, on the program's loop."""

        async def run() -> None:
            try:
                function = self.callbacks[token]
                answer: Any = (await function(request)).SerializeToString()
            except BaseException as error:  # the callback's error is the answer
                answer = failed(error)
                name = self.callback_names.get(token)
                if name is not None:
                    answer = CallFailure(answer.cause, f"{name}: {answer.message}", answer.traceback, error)
            complete(answer)

        loop = self.loop
        context = self.callbacks.contexts.get(token, self.context).copy()
        if loop is None:
            complete(failed(RuntimeError("no program is running that could answer a callback")))
        elif not self.calls_on_loop.begin(loop, context, run):
            # The program has ended; a delete hook is called all the same.
            with self._outside_loop:
                context.run(loop.run_until_complete, run())

    def program_ended(self) -> None:
        """Called where the program's loop ran, when it runs no longer: answers the calls that wait for it."""
        if self.loop is not None:
            with self._outside_loop:
                self.calls_on_loop.end(self.loop)

    def note_resource(
        self, resource: type, type_token: str, name: str, declared: frozenset[str], provider: object
    ) -> None:
        """Remembers, at the first resource of a class, its provider's class and which outputs it declares."""
        if resource not in self.makers:
            self.makers[resource] = (type_token, type(provider))
            self.declared[type_token, name] = (resource, declared)

    def note_urn(self, request: Message, response: Message) -> None:
        """Takes note of the URN of a resource that was registered."""
        urn = getattr(response, "urn", "")
        if self.bodies is not None and urn:
            self.bodies.registered(getattr(request, "type", ""), getattr(request, "name", ""), urn)

    def look_at_outputs(self, request: Message, response: Message) -> None:
        """Has the run take note of outputs that the provider returned and the program cannot read."""
        key = (getattr(request, "type", ""), getattr(request, "name", ""))
        noted = self.declared.pop(key, None)
        if noted is None or self.engine is None or response.urn not in self._changed:  # type: ignore[attr-defined]
            return
        resource, declared = noted
        missing = sorted(
            name
            for name in response.object.fields  # type: ignore[attr-defined]
            if name not in declared and not name.startswith("__")
        )
        if missing:
            self.engine.note_undeclared(response.urn, resource.__qualname__, missing)  # type: ignore[attr-defined]


def _work(pool: Pool) -> None:
    try:
        pool.work()
    finally:
        outputs.close_loop()


def some_of(names: list[str]) -> str:
    """A list for a message: the first names, and how many more there are."""
    rest = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {rest:,} more" if rest > 0 else "")
