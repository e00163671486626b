"""Calls of provider methods, and what is made of their results.

Nothing that user code raises gets past here: a `StopIteration` or `SystemExit` that reached a future or a thread's
top would hang or end the run instead of failing the resource.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from maloko import _outputs
from maloko._current import CURRENT_CALL, ProviderCall
from maloko._errors import PartialFailure
from maloko._tracebacks import format_error, message_of

if TYPE_CHECKING:
    from maloko._loops import ProviderLoop
    from maloko._maloko import Completion

Answer = tuple[Any, ...]
"""A kind followed by its fields; py-binding/src/provider.rs reads it."""


class BadReturnError(Exception):
    """A method returned something that cannot be used."""


def call_provider(
    provider: Any,
    call: ProviderCall,
    arguments: tuple[Any, ...],
    context: contextvars.Context,
    loop: ProviderLoop,
    complete: Completion,
    ended: Callable[[], object],
) -> Answer | None:
    """Calls a method in a context of its own. An `async def` method answers later, through `complete`.

    `ended` is called before the answer is given.
    """
    context = context.copy()

    def answer(result: Any, error: BaseException | None = None) -> Answer:
        _end_printed_lines()
        ended()
        if isinstance(error, asyncio.CancelledError) and call.was_cancelled():
            return ("interrupted", *raised(error)[1:])
        if error is not None:
            return raised(error, call.method)
        try:
            return _READERS[call.method](result)
        except BadReturnError as error:
            return ("bad", str(error))
        except BaseException as error:  # results are user objects: reading them may raise anything
            # The method itself did not raise: what it made is there.
            return ("bad", f"reading what {call.method} returned raised {message_of(error)}")

    def start() -> Answer | None:
        CURRENT_CALL.set(call)
        try:
            result = _method(provider, call.method)(*_arguments(call.method, arguments))
        except BaseException as error:  # see the module's text
            _outputs.settle()
            return answer(None, error)
        if not inspect.isawaitable(result):
            _outputs.settle()
            return answer(result)
        call.on_cancel(loop.start(result, lambda value, error: complete(answer(value, error)), _outputs.settle_async))
        complete.on_abandon(call.cancel)
        return None

    return context.run(start)


def _end_printed_lines() -> None:
    """Passes on what the call printed without an end of line, while it is still known whose it is."""
    for stream in (sys.stdout, sys.stderr):
        end_call = getattr(stream, "end_call", None)
        if end_call is not None:
            end_call()


def raised(error: BaseException, method: str = "") -> Answer:
    """The answer of a call that raised. Only `create`, `update` and `read` can fail in part."""
    # The frames that are ours are of no use to anybody who catches the error later.
    described = ("raised", message_of(error), format_error(error), error)
    if isinstance(error, PartialFailure) and method in ("create", "update", "read"):
        reasons = [str(reason) for reason in error.reasons] or [str(error)]
        return ("partial", *described[1:], _text_id(error.id) or "", error.outs, reasons)
    return described


def unloadable(error: BaseException) -> Answer:
    """The answer when the module of a provider could not be loaded."""
    return ("unloadable", *raised(error)[1:4])


def _method(provider: Any, name: str) -> Callable[..., Any]:
    method: Callable[..., Any] | None = getattr(provider, name, None)
    if method is None:
        raise AttributeError(f"the provider {type(provider).__qualname__} has no method '{name}'")
    return method


def _arguments(method: str, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    if method != "configure":
        return arguments
    from pulumi.dynamic import Config, ConfigureRequest

    return (ConfigureRequest(Config(*arguments)),)


def _field(result: Any, method: str, name: str, wanted: str) -> Any:
    try:
        return getattr(result, name)
    except AttributeError:
        what = "None" if result is None else with_article(type(result).__name__)
        raise BadReturnError(f"{method} returned {what}; it must return {wanted}") from None


def with_article(name: str) -> str:
    """A class's name in a sentence: `an int`."""
    return f"{'an' if name[:1] in 'aeiouAEIOU' else 'a'} {name}"


def _text_id(value: Any) -> str | None:
    """An id as text. Bytes are taken for what they spell, as `binascii.b2a_hex` returns them; `None` for all else."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bytes):
        try:
            return value.decode("ascii")
        except UnicodeDecodeError:
            return None
    return None


def _configured(_result: Any) -> Answer:
    return ("configured",)


def _checked(result: Any) -> Answer:
    wanted = "a CheckResult(inputs, failures)"
    failures = []
    for failure in _field(result, "check", "failures", wanted) or ():
        reason = _field(failure, "check", "reason", "failures that are CheckFailure(property, reason)")
        failures.append((str(getattr(failure, "property", None) or ""), str(reason)))
    inputs = _field(result, "check", "inputs", wanted)
    if inputs is None and not failures:
        raise BadReturnError("check returned no inputs; return CheckResult(news, []) to go on with the given ones")
    return ("checked", inputs, failures)


def _names(result: Any, name: str) -> list[str]:
    value = getattr(result, name, None)
    if value is None:
        return []
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise BadReturnError(f"diff returned {name}={value!r}; it must be a list of property names")
    names = list(value)
    for item in names:
        if not isinstance(item, str):
            raise BadReturnError(f"diff returned {name} with {item!r}; property names are texts")
    return names


def _diffed(result: Any) -> Answer:
    changes = _field(result, "diff", "changes", "a DiffResult")
    first = getattr(result, "delete_before_replace", None)
    return (
        "diffed",
        None if changes is None else bool(changes),
        _names(result, "replaces"),
        _names(result, "stables"),
        None if first is None else bool(first),
    )


def _created(result: Any) -> Answer:
    value = _field(result, "create", "id", "a CreateResult(id, outs)")
    id_ = _text_id(value)
    if id_ is None and value is not None:
        raise BadReturnError(f"create returned the id {value!r}; ids are texts: use str()")
    if not id_:
        raise BadReturnError("create returned no id; return one that finds the object again: CreateResult(id, outs)")
    return ("created", id_, getattr(result, "outs", None))


def _read(result: Any) -> Answer:
    value = _field(result, "read", "id", "a ReadResult(id, outs)")
    id_ = _text_id(value)
    if id_ is None and value is not None:
        raise BadReturnError(f"read returned the id {value!r}; ids are texts: use str()")
    return ("read", id_ or "", getattr(result, "outs", None), getattr(result, "inputs", None))


def _updated(result: Any) -> Answer:
    return ("updated", _field(result, "update", "outs", "an UpdateResult(outs)"))


def _deleted(_result: Any) -> Answer:
    return ("deleted",)


_READERS: dict[str, Callable[[Any], Answer]] = {
    "configure": _configured,
    "check": _checked,
    "diff": _diffed,
    "create": _created,
    "read": _read,
    "update": _updated,
    "delete": _deleted,
}
