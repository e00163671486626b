"""The monitor and engine objects that the SDK is given in place of its gRPC stubs."""

from __future__ import annotations

import asyncio
import collections
import contextvars
import functools
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import grpc
from google.protobuf import message_factory
from pulumi.runtime.proto import engine_pb2, resource_pb2

from maloko._current import CURRENT_CALL
from maloko._sdk.deep_answers import decoded

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from maloko._maloko import Engine as NativeEngine
    from maloko._sdk.run_host import RunHost

_CODES = {code.value[0]: code for code in grpc.StatusCode}

# What may take long and is asked for from the event loop: these are answered through a future.
_AWAITED = frozenset({"RegisterResource", "RegisterResourceOutputs", "ReadResource", "SignalAndWaitForShutdown"})
# What may take long (a transform may be called back on the event loop) and whose answer the SDK unpacks at once.
_ON_A_THREAD = frozenset({"Invoke", "Call"})


class EngineError(grpc.RpcError):
    """A request that the engine did not answer, in the shape in which the SDK looks for a status code."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self._code = _CODES.get(code, grpc.StatusCode.UNKNOWN)

    def code(self) -> grpc.StatusCode:
        """The gRPC status code."""
        return self._code

    def details(self) -> str:
        """What to tell the program's author."""
        return str(self)


class NotHere(BaseException):
    """The request must not be sent from the event loop's thread."""


def _response_types(file: Any, service: str) -> dict[str, Any]:
    methods = file.DESCRIPTOR.services_by_name[service].methods
    return {method.name: message_factory.GetMessageClass(method.output_type) for method in methods}


class Monitor:
    """Stands for `ResourceMonitorStub`: the methods of the service, each taking and returning a message."""

    def __init__(self, native: NativeEngine, host: RunHost, loop: asyncio.AbstractEventLoop) -> None:
        self.maloko_host = host
        self.over = False
        """Has the engine said that the run is over?"""
        self.may_wind_up: Callable[[], bool] = lambda: True
        """Asked when the program has come to its end: may what it did not register be deleted?"""
        self._answered: collections.deque[Callable[[], None]] = collections.deque()
        self._is_woken = False
        self._goes_on = False
        self.pending = 0
        """Requests that were sent from the program's event loop and are not answered yet."""
        self._native = native
        self._loop = loop
        self._loop_thread = threading.get_ident()
        self._in_executor = False
        for name, response_type in _response_types(resource_pb2, "ResourceMonitor").items():
            setattr(self, name, functools.partial(self._send, name, response_type))

    def _send(self, name: str, response_type: Any, request: Message, *_: Any, **__: Any) -> Any:
        if name == "SignalAndWaitForShutdown" and not self.may_wind_up():
            return response_type()
        if self._in_executor and threading.get_ident() == self._loop_thread:
            if name in _ON_A_THREAD:
                raise NotHere
            if name in _AWAITED:
                return self._begin(name, response_type, request)
        return self._read(response_type, self._native.rpc(name, request.SerializeToString()), request)

    def _begin(self, name: str, response_type: Any, request: Message) -> Any:
        future: asyncio.Future[Any] = self._loop.create_future()

        def complete(answer: bytes | tuple[int, str]) -> None:
            self._answered.append(functools.partial(settle, answer))
            # Waking the loop takes a system call: once does for all answers that come until it looks.
            if not self._is_woken:
                self._is_woken = True
                try:
                    self._loop.call_soon_threadsafe(self._settle)
                except RuntimeError:
                    # The loop was closed: the program has ended without waiting for its answers.
                    return

        def settle(answer: bytes | tuple[int, str]) -> None:
            self.pending -= 1
            if future.done():
                return
            try:
                future.set_result(self._read(response_type, answer, request))
            except EngineError as error:
                future.set_exception(as_the_sdk_raises(name, error))
            except Exception as error:  # whoever waits for the answer is told, and the other answers are handed out
                future.set_exception(error)

        answer = self._native.begin(name, request.SerializeToString(), contextvars.copy_context(), complete)
        if answer is not None:
            return self._read(response_type, answer, request)
        self.pending += 1
        if not self._goes_on:
            self._goes_on = True
            self._loop.call_soon(self._go_on)
        return future

    def _go_on(self) -> None:
        """Has provider methods called for what was sent while the loop was busy."""
        self._goes_on = False
        self._native.go_on()

    def _settle(self) -> None:
        """Hands out the answers that have come, on the loop's thread."""
        # First of all: an answer that comes from here on wakes the loop again.
        self._is_woken = False
        try:
            for _ in range(len(self._answered)):
                self._answered.popleft()()
        finally:
            # A signal's handler may raise in between.
            if self._answered and not self._is_woken:
                self._is_woken = True
                self._loop.call_soon(self._settle)

    def _read(self, response_type: Any, answer: bytes | tuple[int, str], request: Message) -> Any:
        if isinstance(answer, bytes):
            response = decoded(response_type, answer)
            if self.maloko_host.declared:
                self.maloko_host.look_at_outputs(request, response)
            if self.maloko_host.bodies is not None:
                self.maloko_host.note_urn(request, response)
            return response
        code, message = answer
        if code == grpc.StatusCode.UNAVAILABLE.value[0]:
            self.over = True
        raise EngineError(code, message)

    def in_executor(self, function: Callable[[], Any]) -> Any:
        """Calls what the SDK wants done in an executor on this thread, which must be the event loop's."""
        self._in_executor = True
        try:
            return function()
        finally:
            self._in_executor = False


def as_the_sdk_raises(name: str, error: EngineError) -> BaseException:
    """The error as it comes out of the function that the SDK hands to its executor."""
    if name == "SignalAndWaitForShutdown":
        return error
    from pulumi.runtime.settings import grpc_error_to_exception

    return grpc_error_to_exception(error)


class EngineService:
    """Stands for `EngineStub`."""

    def __init__(self, native: NativeEngine) -> None:
        self._native = native
        for name, response_type in _response_types(engine_pb2, "Engine").items():
            if name != "Log":
                setattr(self, name, functools.partial(self._send, name, response_type))

    def Log(self, request: Any, *_: Any, **__: Any) -> None:  # noqa: N802 the service's name for it
        """Passes a message on. One that names no resource is on the one whose provider says it."""
        call = CURRENT_CALL.get()
        urn = request.urn or (call.urn if call is not None else "")
        self._native.log(urn, request.severity, request.message, request.ephemeral)

    def _send(self, name: str, response_type: Any, request: Message, *_: Any, **__: Any) -> Any:
        answer = self._native.rpc(name, request.SerializeToString())
        if isinstance(answer, bytes):
            return response_type.FromString(answer)
        raise EngineError(*answer)


class SdkExecutor(ThreadPoolExecutor):
    """The default executor of the program's event loop.

    What the SDK hands over is a request to the monitor. It is sent right here, on the loop's thread, and answered
    through a future: no thread is held while the engine works. Everything else (`asyncio.to_thread` of the program)
    goes to real threads.
    """

    def __init__(self, monitor: Monitor, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(thread_name_prefix="maloko-program")
        self.on_threads: set[Future[Any]] = set()
        """What goes on on its threads, or waits for one."""
        self._monitor = monitor
        self._loop = loop
        self._loop_thread = threading.get_ident()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Runs a function of the SDK here, any other one on a thread."""
        module = getattr(fn, "__module__", None) or ""
        if not module.startswith("pulumi.runtime.") or threading.get_ident() != self._loop_thread:
            return self._on_a_thread(fn, *args, **kwargs)
        try:
            result = self._monitor.in_executor(functools.partial(fn, *args, **kwargs))
        except NotHere:
            return self._on_a_thread(fn, *args, **kwargs)
        except Exception as error:  # it belongs to whoever awaits the future
            failed = self._loop.create_future()
            failed.set_exception(error)
            return failed
        if asyncio.isfuture(result):
            return result
        done = self._loop.create_future()
        done.set_result(result)
        return done

    def _on_a_thread(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future = super().submit(fn, *args, **kwargs)
        self.on_threads.add(future)
        future.add_done_callback(self.on_threads.discard)
        return future
