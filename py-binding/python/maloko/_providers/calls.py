"""Calls of provider methods, and what is made of their results.

Nothing that user code raises gets past here: a `StopIteration` or `SystemExit` that reached a future or a thread's
top would hang or end the run instead of failing the resource.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import reprlib
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from maloko._current import CURRENT_CALL, ProviderCall
from maloko._errors import PartialFailure
from maloko._maloko import (
    CallFailure,
    Cause,
    CheckAnswer,
    CreateAnswer,
    DiffAnswer,
    EmptyAnswer,
    PartialCallFailure,
    ReadAnswer,
    RejectedInput,
    UnusableAnswer,
    UpdateAnswer,
)
from maloko._process.forks import OwnProcess
from maloko._process.tracebacks import as_text, format_error, message_of, message_with_causes
from maloko._providers.described import describe, id_in
from maloko._providers.transience import transience_of
from maloko._sdk import outputs

if TYPE_CHECKING:
    from maloko._maloko import Completion
    from maloko._process.event_loops import ProviderLoop

Result: TypeAlias = "CheckAnswer | DiffAnswer | CreateAnswer | ReadAnswer | UpdateAnswer | EmptyAnswer"
"""What a method answered."""
Answer: TypeAlias = "Result | UnusableAnswer | CallFailure | PartialCallFailure"
"""What a call came to."""


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
    process = OwnProcess()

    def answer(result: Any, error: BaseException | None = None, fault: BaseException | None = None) -> Answer:
        process.go_on_only_here(error)
        try:
            end_printed_lines()
            if fault is not None:
                return UnusableAnswer(f"looking at what {call.method} returned raised {message_of(fault)}")
            return made_of(result, error)
        except BaseException as fault:  # the method was called: what it made may be there
            return UnusableAnswer(f"what became of {call.method} could not be read: {message_of(fault)}")
        finally:
            ended()

    def made_of(result: Any, error: BaseException | None) -> Answer:
        if error is not None:
            if issubclass(type(error), asyncio.CancelledError) and call.was_cancelled():
                return failed(error, Cause.Interrupted)
            return raised(error, call.method, provider)
        try:
            return READERS[call.method](result)
        except BadReturnError as error:
            problem = as_text(str(error))
        except BaseException as error:  # results are user objects: reading them may raise anything
            # The method itself did not raise: what it made is there.
            problem = f"reading what {call.method} returned raised {message_of(error)}"
        # What `create` made is there, whatever it returned.
        return (
            UnusableAnswer(problem, describe(result), id_in(result))
            if call.method == "create"
            else UnusableAnswer(problem)
        )

    def start() -> Answer | None:
        CURRENT_CALL.set(call)
        try:
            result = _method(provider, call.method)(*_arguments(call.method, arguments))
        except BaseException as error:  # see the module's text
            with contextlib.suppress(BaseException):
                outputs.settle()
            return answer(None, error)
        try:
            if not inspect.isawaitable(result):
                outputs.settle()
                return answer(result)
            ending = loop.start(result, lambda value, error: complete(answer(value, error)), outputs.settle_async)
        except BaseException as error:  # a result that is odd, or an event loop that is gone
            return answer(None, None, error)
        call.on_cancel(ending)
        complete.on_abandon(call.cancel)
        return None

    return context.run(start)


def end_printed_lines() -> None:
    """Passes on what the call, or the program, printed without an end of line, while it is still known whose it is."""
    for stream in (sys.stdout, sys.stderr):
        end_call = getattr(stream, "end_call", None)
        if end_call is not None:
            end_call()


def failed(error: BaseException, cause: Cause = Cause.Raised) -> CallFailure:
    """The answer for an exception."""
    return CallFailure(cause, message_with_causes(error), format_error(error), error)


def raised(error: BaseException, method: str, provider: Any) -> CallFailure | PartialCallFailure:
    """The answer of a call that raised. Only `create`, `update`, `read` and `find` can fail in part."""
    message, traceback = message_with_causes(error), format_error(error)
    failure = CallFailure(Cause.Raised, message, traceback, error, *transience_of(error, provider))
    # By its real class: what it says of its class may be anything.
    if issubclass(type(error), PartialFailure) and method in ("create", "update", "read", "find"):
        partial = cast("PartialFailure", error)
        reasons = [_reason(reason) for reason in partial.reasons] or [failure.message]
        return PartialCallFailure(failure, _text_id(partial.id) or "", partial.outs, reasons)
    return failure


def _reason(reason: Any) -> str:
    try:
        return as_text(str(reason))
    except BaseException as error:  # the object is there, whatever is wrong with the words
        return f"a reason that cannot be shown: {message_of(error)}"


def refused(error: BaseException) -> CallFailure:
    """The answer when nothing was called, because the run can have no object of its own."""
    return CallFailure(Cause.Refused, as_text(str(error)), "", error)


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
        # A subclass may say otherwise when it is asked.
        return str.__str__(value)
    if isinstance(value, bytes):
        try:
            return value.decode("ascii")
        except UnicodeDecodeError:
            return None
    return None


def _checked(result: Any) -> CheckAnswer:
    wanted = "a CheckResult(inputs, failures)"
    failures = []
    for failure in _field(result, "check", "failures", wanted) or ():
        reason = _field(failure, "check", "reason", "failures that are CheckFailure(property, reason)")
        failures.append(RejectedInput(str(getattr(failure, "property", None) or ""), str(reason)))
    inputs = _field(result, "check", "inputs", wanted)
    if inputs is None and not failures:
        raise BadReturnError("check returned no inputs; return CheckResult(news, []) to go on with the given ones")
    return CheckAnswer(inputs, failures)


def _names(result: Any, name: str) -> list[str]:
    value = getattr(result, name, None)
    if value is None:
        return []
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise BadReturnError(f"diff returned {name}={reprlib.repr(value)}; it must be a list of property names")
    names = list(value)
    for item in names:
        if not isinstance(item, str):
            raise BadReturnError(f"diff returned {name} with {reprlib.repr(item)}; property names are texts")
    return names


def _diffed(result: Any) -> DiffAnswer:
    changes = _field(result, "diff", "changes", "a DiffResult")
    first = getattr(result, "delete_before_replace", None)
    return DiffAnswer(
        None if changes is None else bool(changes),
        _names(result, "replaces"),
        _names(result, "stables"),
        None if first is None else bool(first),
    )


def _created(result: Any) -> CreateAnswer:
    id_ = _id_of(result, "create", "a CreateResult(id, outs)")
    if not id_:
        raise BadReturnError("create returned no id; return one that finds the object again: CreateResult(id, outs)")
    try:
        id_.encode("utf-8")
    except UnicodeEncodeError:
        raise BadReturnError(
            f"create returned the id {id_!a}, which is no valid text: it holds half a character"
        ) from None
    return CreateAnswer(id_, getattr(result, "outs", None))


def _id_of(result: Any, method: str, wanted: str) -> str:
    value = _field(result, method, "id", wanted)
    id_ = _text_id(value)
    if id_ is None and value is not None:
        raise BadReturnError(f"{method} returned the id {reprlib.repr(value)}; ids are texts: use str()")
    return id_ or ""


def _read(result: Any) -> ReadAnswer:
    return _seen(result, _id_of(result, "read", "a ReadResult(id, outs)"))


def _found(result: Any) -> ReadAnswer:
    if result is None:
        return ReadAnswer("", None, None)
    return _seen(result, _id_of(result, "find", "a ReadResult(id, outs), or None"))


def _seen(result: Any, id_: str) -> ReadAnswer:
    return ReadAnswer(id_, getattr(result, "outs", None), getattr(result, "inputs", None))


def _updated(result: Any) -> UpdateAnswer:
    return UpdateAnswer(_field(result, "update", "outs", "an UpdateResult(outs)"))


def _done(_result: Any) -> EmptyAnswer:
    return EmptyAnswer()


READERS: dict[str, Callable[[Any], Result]] = {
    "configure": _done,
    "check": _checked,
    "diff": _diffed,
    "create": _created,
    "read": _read,
    "find": _found,
    "update": _updated,
    "delete": _done,
    "close": _done,
}
"""What reads the result of each method; it raises `BadReturnError` for one that is of no use."""
