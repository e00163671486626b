"""Laws of what happens beside the properties: 10 to 14, 17."""

from __future__ import annotations

import contextlib
import io
import logging
import sys
import threading
from collections.abc import Iterator
from typing import Any

from maloko.testing._laws._compare import NOTHING, Made, differences, differences_of, texts_in
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
from maloko.testing._laws._words import error_text
from maloko.testing._laws._worlds import Needs, need, picture_of
from maloko.testing._operations._runs import Run
from maloko.testing._operations._stack import Stack
from maloko.testing._values import HIDDEN


def planning_touches_nothing(trial: Trial, first: Inputs, then: Inputs) -> None:
    """L10."""
    trial.recorder.requests = lambda: _calls_of(trial.world)
    with sockets_watched() as touched:
        stack = trial.made(first)
        _touched_nothing(trial, touched)
        before = picture_of(trial.world) if trial.world is not None else {}
        stack.run("preview")
        set_inputs(stack, then)
        stack.run("preview")
        trial.stack(then).run("preview")
        _touched_nothing(trial, touched)
    if trial.world is not None:
        for path, was, now in differences(before, picture_of(trial.world)):
            raise Broken("world-changed", property=path, before=was, after=now)


def _touched_nothing(trial: Trial, touched: list[tuple[str, str]]) -> None:
    """Fails where `check` or `diff` used the network, or made a request to the world."""
    for method, used in touched:
        raise Broken("network", method=method, used=used)
    for heard in trial.recorder.calls:
        if heard.method in ("check", "diff") and heard.requests:
            raise Broken("requests", method=heard.method, requests=heard.requests)


def _calls_of(world: Any) -> int:
    calls = getattr(world, "calls", None)
    return calls if isinstance(calls, int) else 0


def drift_is_seen(trial: Trial, inputs: Inputs) -> None:
    """L11."""
    mutate = need(trial.world, "mutate_remote", "to change an object behind the provider's back")
    remove = need(trial.world, "delete_remote", "to remove an object behind the provider's back")
    trial.need("read", "nobody else says what has become of an object")
    stack = trial.made(inputs)
    mutate(stack.id(NAME))
    if not stack.preview(refresh=True).changed:
        raise Broken("drift-unseen")
    remove(stack.id(NAME))
    stack.refresh()
    if NAME in stack.resources():
        raise Broken("not-dropped", id=stack.id(NAME))
    stack.up(settle=False)
    ids = trial.ids()
    if ids is not None and ids != [stack.id(NAME)]:
        raise Broken("not-made-again", ids=ids)


def one_object_after_all(trial: Trial, inputs: Inputs) -> None:
    """L13."""
    if trial.world is None:
        raise Needs("`world`, to count the objects")
    stack = trial.stack(inputs)
    lost = ConnectionError("the answer was lost (maloko's law 13)")
    with stack.fault(NAME, "create", raises=lost, after=True):
        run = stack.run("up")
    if run.outcome == "succeeded" or not trial.ids():
        raise Refused(f"{run.error}")
    again = stack.run("up")
    ids = trial.ids()
    if again.outcome != "succeeded":
        raise Broken("repeat-fails", error=error_text(again.failure())) from again.failure()
    if ids != [stack.id(NAME)]:
        raise Broken("repeat-makes", ids=ids)


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
            _plain_outs_have_none(stack, secrets)
            set_inputs(stack, then)
            for verb in ("up", "refresh"):
                runs.append(stack.run(verb))
                if NAME in stack.resources():
                    _plain_outs_have_none(stack, secrets)
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
        if any(secret in f"{heard.error} {heard.error!r}" for secret in secrets):
            place = {"in": "error", "method": heard.method}
            raise Broken("leak", place=place, found=_hidden(error_text(heard.error), secrets))
    for text, where in ((printed.getvalue(), "printed"), (repr(trial.provider), "provider")):
        for line in text.splitlines():
            if any(secret in line for secret in secrets):
                raise Broken("leak", place={"in": where}, found=_hidden(line, secrets))
    for run in runs:
        for _, _, message in run.diagnostics:
            if any(secret in message for secret in secrets):
                raise Broken("leak", place={"in": "message"}, found=_hidden(message, secrets))


def _hidden(text: str, secrets: set[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, HIDDEN)
    return text if len(text) < 300 else text[:300] + "..."


def _secrets_of(trial: Trial, inputs: Inputs) -> set[str]:
    names = trial.settings.secret or frozenset()
    plain = [text for key, value in inputs.items() if key not in names for _, text in texts_in(value)]
    found = {text for key in names for _, text in texts_in(inputs.get(key))}
    return {it for it in found if len(it) >= LONG_ENOUGH and len(set(it)) > 1 and not any(it in text for text in plain)}


def _plain_outs_have_none(stack: Stack, secrets: set[str]) -> None:
    row = stack.resources()[NAME]
    if any(secret in row["id"] for secret in secrets):
        raise Broken("leak", place={"in": "id"}, found=_hidden(row["id"], secrets))
    marked = set(row["secret"])
    for path, text in texts_in(row["outputs"]):
        hidden = any(path == it or path.startswith((f"{it}.", f"{it}[")) for it in marked)
        if not hidden and any(secret in text for secret in secrets):
            raise Broken("leak", place={"in": "output", "property": path}, found=_hidden(text, secrets))


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
        raise Broken("goes-on", method=method, seconds=trial.settings.grace)
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
    expected = _made_by_name(serial)
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
    failure = run.failure()
    if failure is not None:
        raise Broken("together-fails", resources=len(wanted), error=error_text(failure)) from failure
    for name, found in _made_by_name(parallel).items():
        alone = expected.get(name, Made(NOTHING, ""))
        for path, before, after in differences_of(alone, found, trial.settings.volatile):
            raise Broken("mixed", property=path, resource=name, alone=before, together=after)


def _made_by_name(stack: Stack) -> dict[str, Made]:
    return {name: Made(row["outputs"], row["id"]) for name, row in stack.resources().items()}
