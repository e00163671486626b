"""Laws of what happens beside the properties: 10 to 14, 17."""

from __future__ import annotations

import contextlib
import io
import logging
import sys
import threading
from collections.abc import Iterator
from typing import Any

from maloko.testing._laws._compare import NOTHING, differences, texts_in, without_id
from maloko.testing._laws._recorder import is_async, sockets_watched
from maloko.testing._laws._trial import (
    NAME,
    Broken,
    Inputs,
    PassOver,
    Refused,
    Trial,
    set_inputs,
    waited_for,
)
from maloko.testing._laws._worlds import Needs, need, picture_of
from maloko.testing._runs import Run
from maloko.testing._stack import Stack


def planning_touches_nothing(trial: Trial, first: Inputs, then: Inputs) -> None:
    """L10."""
    advice = "check and diff decide from their arguments alone; leave the service to create, read, update and delete"
    with sockets_watched() as touched:
        stack = trial.made(first)
        if touched:
            raise Broken("(none)", "no connection while planning", touched[0], advice)
        before = (picture_of(trial.world), _calls_of(trial.world)) if trial.world is not None else ({}, None)
        stack.run("preview")
        set_inputs(stack, then)
        stack.run("preview")
        trial.stack(then).run("preview")
        if touched:
            raise Broken("(none)", "no connection while planning", touched[0], advice)
    if trial.world is None:
        return
    for difference in differences(before[0], picture_of(trial.world)):
        trial.breaks(difference, expected="in the world, before", found="after a preview", advice=advice)
    calls = _calls_of(trial.world)
    if calls != before[1]:
        raise Broken("(none)", f"{before[1]} requests to the world", f"{calls}, after a preview", advice)


def _calls_of(world: Any) -> Any:
    calls = getattr(world, "calls", None)
    return calls if isinstance(calls, int) else None


def drift_is_seen(trial: Trial, inputs: Inputs) -> None:
    """L11."""
    mutate = need(trial.world, "mutate_remote", "to change an object behind the provider's back")
    remove = need(trial.world, "delete_remote", "to remove an object behind the provider's back")
    trial.need("read", "nobody else says what has become of an object")
    stack = trial.made(inputs)
    mutate(stack.id(NAME))
    if not stack.preview(refresh=True).changed:
        raise Broken(
            "(none)",
            "a plan that undoes what was changed outside",
            "an empty plan, after a refresh",
            "read must ask the service for every property and return what it says, and diff must compare it",
        )
    remove(stack.id(NAME))
    stack.refresh()
    if NAME in stack.resources():
        raise Broken(
            "(the object)",
            "dropped by a refresh, because it was removed outside",
            f"{stack.outputs(NAME)!r}",
            'return ReadResult("", {}) for what the service does not find',
        )
    stack.up(settle=False)
    ids = trial.ids()
    if ids != [stack.id(NAME)]:
        raise Broken("(the object)", "made again by the next up", f"{ids} in the world", "create must make it anew")


def one_object_after_all(trial: Trial, inputs: Inputs) -> None:
    """L13."""
    if trial.world is None:
        raise Needs("`world`, to count the objects")
    stack = trial.stack(inputs)
    advice = (
        "let create find what an earlier one has made: by maloko.current_call().operation_key as the service's "
        "idempotency key, or by a name that is unique there"
    )
    lost = ConnectionError("the answer was lost (maloko's law 13)")
    with stack.fault(NAME, "create", raises=lost, after=True):
        run = stack.run("up")
    if run.outcome == "succeeded" or not trial.ids():
        raise Refused(f"{run.error}")
    again = stack.run("up")
    ids = trial.ids()
    if again.outcome != "succeeded":
        raise Broken(
            "(the object)",
            "made, or taken over, by the next up",
            f"{type(again.failure()).__name__}: {again.failure()}",
            advice,
        ) from again.failure()
    if ids != [stack.id(NAME)]:
        raise Broken("(the object)", f"one, {stack.id(NAME)!r}", f"{ids} in the world", advice)


LONG_ENOUGH = 6
"""So many letters must a secret have to be told apart from other text."""


def secrets_stay_secret(trial: Trial, first: Inputs, then: Inputs) -> None:
    """L12."""
    if trial.settings.secret is None:
        raise Needs("`secret`: the names of the inputs that are secret, as in secret = {'password'} (none: set())")
    if not trial.settings.secret:
        return
    secrets = _secrets_of(trial, first) | _secrets_of(trial, then)
    if not secrets:
        raise PassOver(f"secrets of at least {LONG_ENOUGH} letters that are no part of another input")
    stack = trial.stack_of({NAME: first}, secret=True)
    with _heard_output() as printed:
        run = stack.run("up")
        runs = [run]
        if run.outcome == "succeeded":
            _plain_outs_have_none(trial, stack, secrets)
            set_inputs(stack, then)
            runs += [stack.run("up"), stack.run("refresh")]
            # What fails says most: names that are taken, objects that are gone.
            other = trial.stack_of({NAME: first}, secret=True)
            runs.append(other.run("up"))
            remove = getattr(trial.world, "delete_remote", None)
            if NAME in stack.resources() and callable(remove):
                remove(stack.id(NAME))
                set_inputs(stack, first)
                runs.append(stack.run("up"))
            runs.append(stack.run("destroy"))
    for heard in trial.recorder.calls:
        if heard.error is None:
            continue
        told = f"{heard.error} {heard.error!r}"
        if any(secret in told for secret in secrets):
            _leaks(
                f"(what {heard.method} raises)",
                _hidden(told, secrets),
                "name the property in the message, and not its value",
            )
    for text, what in ((printed.getvalue(), "(what was printed or logged)"), (repr(trial.provider), "(repr)")):
        for line in text.splitlines():
            if any(secret in line for secret in secrets):
                _leaks(what, _hidden(line, secrets), "log the name of what was done, and not all inputs")
    for run in runs:
        for _, _, message in run.diagnostics:
            if any(secret in message for secret in secrets):
                _leaks("(a message)", _hidden(message, secrets), "name the property, and not its value")


def _leaks(path: str, found: str, advice: str) -> None:
    raise Broken(path, "no secret in plain text", found, advice)


def _hidden(text: str, secrets: set[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, "<the secret>")
    return text if len(text) < 300 else text[:300] + "..."


def _secrets_of(trial: Trial, inputs: Inputs) -> set[str]:
    names = trial.settings.secret or frozenset()
    plain = [text for key, value in inputs.items() if key not in names for _, text in texts_in(value)]
    found = {text for key in names for _, text in texts_in(inputs.get(key))}
    return {it for it in found if len(it) >= LONG_ENOUGH and len(set(it)) > 1 and not any(it in text for text in plain)}


def _plain_outs_have_none(trial: Trial, stack: Stack, secrets: set[str]) -> None:
    row = stack.resources()[NAME]
    marked = set(row["secret"])
    for path, text in [*texts_in(row["outputs"]), ("id", row["id"])]:
        hidden = any(path == it or path.startswith((f"{it}.", f"{it}[")) for it in marked)
        if not hidden and any(secret in text for secret in secrets):
            _leaks(
                path,
                _hidden(repr(text), secrets),
                "do not return what contains a secret under another name, or list that name in "
                "additional_secret_outputs and in `secret`",
            )


@contextlib.contextmanager
def _heard_output() -> Iterator[io.StringIO]:
    """What is printed and logged meanwhile."""
    printed = io.StringIO()
    handler = logging.StreamHandler(printed)
    root = logging.getLogger()
    level = root.level
    kept = sys.stdout, sys.stderr
    root.addHandler(handler)
    root.setLevel(min(level, logging.INFO) or logging.INFO)
    sys.stdout = sys.stderr = printed
    try:
        yield printed
    finally:
        sys.stdout, sys.stderr = kept
        root.setLevel(level)
        root.removeHandler(handler)


def cancelled_call_ends(trial: Trial, inputs: Inputs) -> None:
    """L14."""
    stack = trial.stack(inputs)
    _cancelled(trial, stack, "up", "create")
    trial.renew()
    for verb, method in (("refresh", "read"), ("destroy", "delete")):
        if trial.has(method):
            stack = trial.made(inputs)
            _cancelled(trial, stack, verb, method)
            trial.renew()


def _cancelled(trial: Trial, stack: Stack, verb: str, method: str) -> None:
    """Cancels a run while a method is called; it must end within the grace time."""
    ended: list[Run] = []

    def cancel(called: str) -> None:
        if called == method:
            trial.recorder.entering = None
            stack.cancel()

    trial.recorder.entering = cancel
    thread = threading.Thread(target=lambda: ended.append(stack.run(verb)), name="maloko-law-14", daemon=True)
    thread.start()
    if not waited_for(lambda: bool(ended), trial.settings.grace):
        kind = (
            "let asyncio.CancelledError through, after what must be cleaned up"
            if is_async(trial.provider, method)
            else "wait with maloko.current_call().cancelled.wait(seconds) in the place of time.sleep(seconds)"
        )
        raise Broken(
            f"(what {method} waits for)",
            f"an end of {method} within {trial.settings.grace:g} s of the cancellation",
            "none: it goes on",
            kind + "; or set `grace`, in seconds",
        )
    thread.join()


def resources_do_not_mix(trial: Trial, *inputs: Inputs) -> None:
    """L17."""
    distinct: list[Inputs] = []
    for one in inputs:
        if one not in distinct:
            distinct.append(one)
    if len(distinct) < 2:
        raise PassOver("two inputs that differ")
    wanted = {f"r{number}": one for number, one in enumerate(distinct, 1)}
    serial = trial.stack_of(wanted, parallel=1)
    if serial.run("up").outcome != "succeeded":
        raise PassOver("inputs of resources that can exist beside each other")
    expected = _outs_by_name(serial)
    trial.renew()
    if not is_async(trial.provider, "create"):
        barrier = threading.Barrier(len(wanted))

        def together(method: str) -> None:
            if method == "create":
                with contextlib.suppress(threading.BrokenBarrierError):
                    barrier.wait(1.0)

        trial.recorder.entering = together
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        parallel = trial.stack_of(wanted, parallel=16)
        run = parallel.run("up")
    finally:
        sys.setswitchinterval(interval)
    advice = "keep what belongs to one call in local variables, and share only what is made for it, behind a lock"
    failure = run.failure()
    if failure is not None:
        raise Broken(
            "(none)",
            f"what {len(wanted)} resources become one after the other, when they are made at once",
            f"{type(failure).__name__}: {failure}",
            advice,
        ) from failure
    for name, outs in _outs_by_name(parallel).items():
        for path, before, after in differences(expected.get(name, NOTHING), outs, trial.settings.volatile):
            raise Broken(
                f"{path} of {name}",
                f"{before!r}  (one after the other)",
                f"{after!r}  (at once)",
                advice,
            )


def _outs_by_name(stack: Stack) -> dict[str, Any]:
    return {name: without_id(row["outputs"], row["id"]) for name, row in stack.resources().items()}
