"""What a provider method may do wrong, and what is expected of a run with it. The twin of behaviours.ts: same names.

A behaviour is a function that stands in for a method. It gets the method's name and a good answer to return.
"""

import asyncio
import builtins
import contextlib
import contextvars
import json
import math
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pulumi

Play = Callable[[str, Callable[[Any], Any]], Any]
"""Stands in for a method: its name, and what makes its good answer of the properties to return."""

RAISES, RETURNS, VALUES, IDS, ASYNC, HANGS, FINE = "raises", "returns", "values", "ids", "awaits", "hangs", "fine"

WITH_VALUES = ("check", "create", "read", "update")
WITH_RESULT = ("check", "diff", "create", "read", "update")


@dataclass(frozen=True)
class Behaviour:
    name: str
    kind: str
    play: Play
    says: str = ""
    """Is in the error."""

    def expected(self, method: str) -> str:
        """The outcome of a run: `error`, `given up`, or `fine`."""
        if self.kind == RAISES or self.kind == ASYNC:
            return "error"
        if self.kind == HANGS:
            return "given up"
        bad = {RETURNS: WITH_RESULT, VALUES: WITH_VALUES, IDS: ("create", "read")}.get(self.kind, ())
        return "error" if method in bad else "fine"

    def hides_an_object(self, method: str) -> bool:
        """May there be an object afterwards of which nothing but its making is known?"""
        return method == "create" and self.expected(method) != "fine" and self.kind not in (RAISES, VALUES)


class Blunt(BaseException):
    pass


class SilentError(Exception):
    def __str__(self) -> str:
        raise SystemExit(3)

    __repr__ = __str__


@dataclass(frozen=True)
class FrozenError(Exception):
    code: int = 3


class LyingError(Exception):
    @property
    def __class__(self):
        raise Blunt

    @property
    def args(self):
        raise Blunt


def raising(make: Callable[[], BaseException]) -> Play:
    def play(_method: str, _good: Callable[[Any], Any]) -> Any:
        raise make()

    return play


def returning(make: Callable[[], Any]) -> Play:
    return lambda _method, _good: make()


def with_values(make: Callable[[], Any]) -> Play:
    """The good answer around such properties."""
    return lambda _method, good: good(make())


def doing(act: Callable[[], Any]) -> Play:
    """Something else first, and then the good answer."""

    def play(_method: str, good: Callable[[Any], Any]) -> Any:
        act()
        return good({"n": 2})

    return play


def cycle_of_causes() -> BaseException:
    first, second = ValueError("first"), ValueError("second")
    first.__cause__, second.__cause__ = second, first
    first.__context__ = second
    return first


def recursion() -> BaseException:
    def deeper() -> None:
        deeper()

    deeper()
    raise AssertionError


def group() -> BaseException:
    members = [ValueError(f"member {number}") for number in range(1000)]
    kind = getattr(builtins, "ExceptionGroup", None)
    return kind("many", members) if kind else ValueError("many", members)


def cyclic() -> dict[str, Any]:
    value: dict[str, Any] = {"n": 2}
    value["self"] = [value]
    return value


def deep() -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(10_000):
        value = {"d": value}
    return {"n": 2, "v": value}


class Hostile:
    """Raises at every look at it."""

    def __getattribute__(self, name: str) -> Any:
        raise Blunt(f"no {name}")

    def __eq__(self, _other: object) -> bool:
        raise Blunt

    def __hash__(self) -> int:
        raise Blunt

    def __repr__(self) -> str:
        raise Blunt

    def __bool__(self) -> bool:
        raise Blunt

    def __len__(self) -> int:
        raise Blunt

    def __iter__(self) -> Iterator[Any]:
        raise Blunt

    def __str__(self) -> str:
        raise Blunt


class HostileMember(Hostile):
    """The same, but for those who report what they cannot hand on."""

    def __repr__(self) -> str:
        return "hostile"


class Getters:
    """Raises when what is in it is asked for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise Blunt(f"no {name}")


class OddDict(dict):  # type: ignore[type-arg]
    def items(self):
        raise Blunt("no items")

    def __iter__(self):
        raise Blunt("no keys")


class Changing(dict):  # type: ignore[type-arg]
    """Gets another member with every look at one."""

    def items(self):
        for key in list(self):
            self[f"more{len(self)}"] = {}
            yield key, self[key]
            if len(self) > 50:
                return


class Text(str):
    def __str__(self) -> str:
        raise Blunt

    def __hash__(self) -> int:
        return 7

    def __eq__(self, _other: object) -> bool:
        raise Blunt


class Awaitable:
    def __await__(self):
        raise Blunt("not to be awaited")


def of_another_loop() -> Any:
    loop = asyncio.new_event_loop()
    return loop.create_future()


def generator() -> Iterator[int]:
    yield 1


async def async_generator():
    yield 1


def thread_left_behind() -> None:
    threading.Thread(target=threading.Event().wait, args=(1,), daemon=True).start()


def exit_in_thread() -> None:
    thread = threading.Thread(target=sys.exit, args=(3,))
    thread.start()
    thread.join()


@contextlib.contextmanager
def undone() -> Iterator[None]:
    """Puts back what behaviours change in the process."""
    kept = (Path.cwd(), builtins.isinstance, json.dumps, json.loads, sys.stdout, sys.stderr, warnings.filters[:])
    released.clear()
    try:
        yield
    finally:
        os.chdir(kept[0])
        builtins.isinstance, json.dumps, json.loads, sys.stdout, sys.stderr = kept[1:6]
        warnings.filters[:] = kept[6]  # type: ignore[index]
        sys.settrace(None)
        released.set()


released = threading.Event()
"""Set when a test is over: no thread is to sit in a method when the interpreter ends."""


def broken(*_: Any, **__: Any) -> Any:
    raise Blunt("broken")


def patch_json() -> None:
    json.dumps = json.loads = broken


def traced(_method: str, good: Callable[[Any], Any]) -> Any:
    answer = good({"n": 2})
    sys.settrace(broken)
    return answer


def nested_run() -> None:
    from kit import Echo, Thing
    from stacks import Stack

    assert Stack(name="inner").up(lambda: Thing(Echo(), "inner")).outcome == "succeeded"


def run_a_loop() -> None:
    asyncio.run(asyncio.sleep(0))


def close_the_loop() -> None:
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    loop.close()


def clean_context() -> None:
    for variable in contextvars.copy_context():
        with contextlib.suppress(Exception):
            variable.set(None)


def replace_streams() -> None:
    sys.stdout = sys.stderr = None  # type: ignore[assignment]


async def stop_the_loop(good: Callable[[Any], Any]) -> Any:
    asyncio.get_running_loop().call_soon(sys.exit, 3)
    asyncio.get_running_loop().stop()
    await asyncio.sleep(0.01)
    return good({"n": 2})


async def exit_in_task(good: Callable[[Any], Any]) -> Any:
    async def leave() -> None:
        sys.exit(3)

    task = asyncio.ensure_future(leave())
    with contextlib.suppress(BaseException):
        await task
    return good({"n": 2})


async def uncancellable(_good: Callable[[Any], Any]) -> Any:
    while True:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(30)


def argument_taken_along(_method: str, good: Callable[[Any], Any]) -> Any:
    outs = {"n": 2, "list": [1]}

    def later() -> None:
        outs["list"].append(threading.current_thread())  # type: ignore[attr-defined]
        outs["late"] = object()  # type: ignore[assignment]

    answer = good(outs)
    threading.Timer(0.05, later).start()
    return answer


def forked() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


TABLE = [
    Behaviour("raises an error", RAISES, raising(lambda: ValueError("no route")), "ValueError: no route"),
    Behaviour("raises what is no ordinary error", RAISES, raising(lambda: Blunt("blunt")), "Blunt: blunt"),
    Behaviour("raises what ends generators", RAISES, raising(lambda: GeneratorExit("over")), "GeneratorExit"),
    Behaviour("raises nothing", RAISES, raising(lambda: StopIteration()), "StopIteration"),
    Behaviour("raises what cannot be shown", RAISES, raising(lambda: SilentError()), "SilentError"),
    Behaviour("raises what cannot be changed", RAISES, raising(lambda: FrozenError()), "FrozenError"),
    Behaviour("raises what lies about its class", RAISES, raising(lambda: LyingError())),
    Behaviour("raises a cycle of causes", RAISES, raising(cycle_of_causes), "ValueError: first"),
    Behaviour("raises many errors at once", RAISES, raising(group), "many"),
    Behaviour("raises a message of 10 MB", RAISES, raising(lambda: ValueError("x" * 10_000_000)), "ValueError: xxx"),
    Behaviour("raises control characters", RAISES, raising(lambda: ValueError("\x1b[2J\x07\x00")), "ValueError"),
    Behaviour("raises half a surrogate pair", RAISES, raising(lambda: ValueError("a\ud800b")), "ValueError: a?b"),
    Behaviour("raises a cancellation nobody asked for", RAISES, raising(asyncio.CancelledError), "CancelledError"),
    Behaviour("recurses without end", RAISES, raising(recursion), "RecursionError"),
    Behaviour("runs out of memory", RAISES, raising(MemoryError), "MemoryError"),
    Behaviour("ends the process", RAISES, raising(lambda: SystemExit(0)), "SystemExit: 0"),
    Behaviour("interrupts the process", RAISES, raising(KeyboardInterrupt), "KeyboardInterrupt"),
    Behaviour("returns nothing", RETURNS, returning(lambda: None), "returned None"),
    Behaviour("returns a text", RETURNS, returning(lambda: "made"), "returned a str"),
    Behaviour("returns a number", RETURNS, returning(lambda: 3), "returned an int"),
    Behaviour("returns a list", RETURNS, returning(lambda: [1]), "returned a list"),
    Behaviour("returns a function", RETURNS, returning(lambda: print), "returned"),
    Behaviour("returns a class", RETURNS, returning(lambda: Blunt), "returned"),
    Behaviour("returns a generator", RETURNS, returning(generator), "returned a generator"),
    Behaviour("returns an async generator", RETURNS, returning(async_generator), "returned an async_generator"),
    Behaviour("returns what raises at every look", ASYNC, returning(Hostile), "Blunt"),
    Behaviour("returns getters that raise", RETURNS, returning(Getters), "Blunt: no"),
    Behaviour("returns an awaitable that raises", RAISES, returning(Awaitable), "Blunt: not to be awaited"),
    Behaviour("returns an awaitable of another loop", RAISES, returning(of_another_loop), "different loop"),
    Behaviour("returns an id that is no text", IDS, lambda _m, good: good({"n": 2}, id_=object()), "returned the id"),
    Behaviour(
        "returns an id with half a surrogate pair", IDS, lambda _m, good: good({"n": 2}, id_="\ud800"), "surrog|half"
    ),
    Behaviour("returns a text that is not quite one", FINE, lambda _m, good: good({"n": Text("2")}, id_=Text("made"))),
    Behaviour("returns a cycle", VALUES, with_values(cyclic), "contains itself"),
    Behaviour("returns 10,000 levels", VALUES, with_values(deep), "deeper than"),
    Behaviour("returns bytes", VALUES, with_values(lambda: {"n": 2, "v": b"raw"}), 'outs["v"]|inputs["v"]'),
    Behaviour("returns a set", VALUES, with_values(lambda: {"n": 2, "v": {1}}), "sorted list"),
    Behaviour("returns an object", VALUES, with_values(lambda: {"n": 2, "v": Getters()}), "Getters"),
    Behaviour("returns members that raise at every look", VALUES, with_values(lambda: {"n": 2, "v": HostileMember()})),
    Behaviour(
        "returns a text with half a surrogate pair", VALUES, with_values(lambda: {"n": 2, "v": "\ud800"}), "half"
    ),
    Behaviour("returns a number beyond all doubles", VALUES, with_values(lambda: {"n": 2, "v": 10**400}), "too large"),
    Behaviour(
        "returns keys that are no texts", VALUES, with_values(lambda: {"n": 2, "v": {1: 2}}), "keys must be texts"
    ),
    Behaviour("returns what cannot be iterated", VALUES, with_values(lambda: OddDict(n=2)), "no items"),
    Behaviour(
        "returns an unknown value",
        VALUES,
        with_values(lambda: {"n": 2, "v": pulumi.output.Unknown()}),
        "not known|unknown",
    ),
    Behaviour("returns what changes while it is read", FINE, with_values(lambda: Changing(n=2))),
    Behaviour("returns NaN and infinity", FINE, with_values(lambda: {"n": 2, "v": [math.nan, math.inf, -0.0]})),
    Behaviour("returns numbers beyond 2^53", FINE, with_values(lambda: {"n": 2, "v": 2**60 + 1})),
    Behaviour("returns the keys of prototypes", FINE, with_values(lambda: {"n": 2, "__proto__": 1, "constructor": 2})),
    Behaviour("returns 5 MB", FINE, with_values(lambda: {"n": 2, "v": "x" * 5_000_000})),
    Behaviour("changes its result after returning it", FINE, argument_taken_along),
    Behaviour("leaves a thread behind", FINE, doing(thread_left_behind)),
    Behaviour("ends the process from a thread", FINE, doing(exit_in_thread)),
    Behaviour("changes the directory", FINE, doing(lambda: os.chdir("/"))),
    Behaviour("replaces JSON", FINE, doing(patch_json)),
    Behaviour("makes warnings errors", FINE, doing(lambda: warnings.simplefilter("error"))),
    Behaviour("replaces the output streams", FINE, doing(replace_streams)),
    Behaviour("clears the context", FINE, doing(clean_context)),
    Behaviour("runs a stack of its own", FINE, doing(nested_run)),
    Behaviour("forks a process that ends", FINE, doing(forked)),
    Behaviour("runs an event loop", FINE, doing(run_a_loop)),
    Behaviour("closes an event loop", FINE, doing(close_the_loop)),
    Behaviour("stops the loop it runs on", FINE, lambda _m, good: stop_the_loop(good)),
    Behaviour("ends the process from a task", FINE, lambda _m, good: exit_in_task(good)),
    Behaviour("traces every call, and fails at it", ASYNC, traced),
    Behaviour("never ends", HANGS, lambda _m, _g: released.wait(30)),
    Behaviour("never settles", HANGS, lambda _m, _g: asyncio.sleep(30)),
    Behaviour("ignores that it is cancelled", HANGS, lambda _m, good: uncancellable(good)),
]
