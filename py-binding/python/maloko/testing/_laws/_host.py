"""Does what the procedure of a law asks for (`engine-kit/src/laws/exchange.rs`): calls, operations on stacks, looks."""

from __future__ import annotations

import copy
import json
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from maloko._maloko import LawTrial
from maloko.testing._direct import Direct, _bag
from maloko.testing._laws._portable import odd_in
from maloko.testing._laws._recorder import METHODS, is_async, sockets_watched
from maloko.testing._laws._shown import output_heard
from maloko.testing._laws._trial import (
    NAME,
    ExampleReport,
    Inputs,
    LawBreach,
    PassOver,
    Trial,
    asked_of_stack,
    end_with,
    set_inputs,
    told_of,
    waited_for,
)
from maloko.testing._laws._words import error_text, error_without_secrets, plain
from maloko.testing._laws._worlds import OF_WORLD, asked_of, printed, world_unseen
from maloko.testing._operations._outcome import Run
from maloko.testing._operations._stack import Stack


def try_law(
    law: str, trial: Trial, inputs: tuple[Inputs, ...], listed: int | None, tell: Callable[[ExampleReport], None]
) -> None:
    """
    Tries a law on one example; raises `LawBreach`, `PassOver`, `InputsRefused`, `Needs`, or what the provider raised.

    :param listed: how many different inputs there are; `None` where they are drawn.
    :param tell: takes what a report says of it, before something is raised.
    """
    with ExitStack() as opened:
        _Host(law, trial, inputs, opened).drive(listed, tell)


class _Host:
    def __init__(self, law: str, trial: Trial, inputs: tuple[Inputs, ...], opened: ExitStack) -> None:
        self._law, self._trial, self._inputs, self._opened = law, trial, inputs, opened
        self._former: list[dict[str, Any]] = []
        self._direct: Direct | None = None
        self._returned: list[dict[str, Any]] = []
        self._stacks: dict[int, Stack] = {}
        self._now = 0
        self._together = False
        self._failure: BaseException | None = None
        self._touched: list[tuple[str, str]] = []
        self._printed: Any = None
        self._messages: list[str] = []

    def drive(self, listed: int | None, tell: Callable[[ExampleReport], None]) -> None:
        """Does one thing after the other, up to the end."""
        procedure = LawTrial(self._law, json.dumps(self._subject(listed)))
        try:
            self._answer_all(procedure)
        except Exception as error:
            tell(ExampleReport(json.loads(procedure.shown()), procedure.hide(error_text(error))))
            if isinstance(error, LawBreach | PassOver):
                error.__cause__ = error_without_secrets(error.__cause__, procedure.hide)
                raise
            shown = error_without_secrets(error, procedure.hide)
            if shown is error or not isinstance(shown, Exception):
                raise
            raise shown from None

    def _answer_all(self, procedure: LawTrial) -> None:
        answer: Any = None
        while True:
            request = json.loads(procedure.next(json.dumps(answer)))
            if request["do"] == "end":
                return end_with(request, self._failure)
            if request["do"] in OF_WORLD:
                answer = asked_of(self._trial.world, request)
            elif request["do"] in ("save", "restore", "reload"):
                answer = asked_of_stack(self._stack, request)
            else:
                answer = getattr(self, f"_{request.pop('do').replace('-', '_')}")(**request)

    def _subject(self, listed: int | None) -> dict[str, Any]:
        former = self._trial.settings.former(self._law)
        self._former = former or []
        return {
            **self._trial.settings.subject(self._trial.world, self._inputs, listed),
            "methods": [method for method in METHODS if self._trial.has(method)],
            "oddInputs": bool(odd_in(self._inputs)),
            "baseline": former and [{"id": it["id"]} for it in former],
        }

    # Without an engine.

    def _check(self, olds: Any, news: Any) -> dict[str, Any]:
        if self._direct is None:
            config = self._trial.settings.config_for(self._trial.world)
            self._direct = self._opened.enter_context(Direct(self._trial.provider, config=config))
        arguments = {"olds": self._bag(olds), "news": self._bag(news)}
        given = plain(arguments)
        checked = self._direct._call("check", arguments["olds"], arguments["news"])
        kept = {} if checked.failures else _bag(checked.inputs or {}, "what check returned")
        self._returned.append(kept)
        refused = [[failure.name, failure.reason] for failure in checked.failures]
        return {"inputs": plain(kept), "failures": refused, "given": given, "left": plain(arguments)}

    def _bag(self, which: Any) -> dict[str, Any]:
        if which == "empty":
            return {}
        if which == "inputs":
            return _bag(self._inputs[0], "inputs")
        return copy.deepcopy(self._returned[which["returned"]])

    # Stacks.

    @property
    def _stack(self) -> Stack:
        return self._stacks[self._now]

    def _renew(self) -> None:
        self._trial.renew()
        self._stacks.clear()

    def _program(self, stack: int, resources: list[dict[str, Any]], secret: bool, together: bool) -> None:
        wanted = {it["name"]: self._wanted(it) for it in resources}
        self._now, self._together = stack, together
        if secret and self._printed is None:
            self._printed = self._opened.enter_context(output_heard())
            self._opened.enter_context(world_unseen(self._trial.world))
        if stack not in self._stacks:
            self._stacks[stack] = self._trial.stack_of(wanted, secret=secret)
        for name, inputs in wanted.items():
            set_inputs(self._stack, inputs, name)
        self._stack._parallel = 16 if together else 1

    def _wanted(self, resource: dict[str, Any]) -> dict[str, Any]:
        inputs = dict(self._inputs[resource["inputs"]])
        for key in resource["taking"]:
            inputs.pop(key, None)
            if key in self._inputs[1]:
                inputs[key] = self._inputs[1][key]
        for path, text in resource["planted"].items():
            inputs = _planted(inputs, path.split("."), text)
        return inputs

    def _run(self, operation: str, loses: bool) -> dict[str, Any]:
        stack = self._stack
        options: dict[str, Any] = {"refresh": True} if operation == "refreshed-preview" else {}
        if operation == "import":
            options["imports"] = [asked_of_stack(stack, {"do": "forget", "name": NAME})]
        lost = ConnectionError("the answer was lost (maloko's law 13)")
        with ExitStack() as meanwhile:
            if loses:
                meanwhile.enter_context(stack.stub(resource=NAME, method="create", raises=lost, after=True))
            if self._together:
                meanwhile.enter_context(self._all_at_once(len(stack.wanted)))  # type: ignore[attr-defined]
            run = stack.run(operation.removeprefix("refreshed-"), **options)
        return self._answer(run)

    def _answer(self, run: Run) -> dict[str, Any]:
        self._failure = run._failure()
        self._messages.extend(message for _, _, message in run.diagnostics)
        reads = self._trial.recorder.of("read")
        read_nothing = bool(reads) and reads[-1].result is not None and not getattr(reads[-1].result, "id", None)
        outcome = asked_of_stack(self._stack, {"do": "law-outcome"})
        return {**outcome, "error": told_of(run), "readNothing": read_nothing}

    @contextmanager
    def _all_at_once(self, count: int) -> Iterator[None]:
        """Has each `create` wait for the others, and threads change places as often as they can."""
        if not is_async(self._trial.provider, "create"):
            barrier = threading.Barrier(count)

            def together(method: str) -> None:
                if method == "create":
                    with suppress(threading.BrokenBarrierError):
                        barrier.wait(1.0)

            self._trial.recorder.entering = together
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-5)
        try:
            yield
        finally:
            sys.setswitchinterval(interval)

    def _cancel(self, operation: str, method: str) -> dict[str, Any]:
        stack, recorder = self._stack, self._trial.recorder
        ended: list[Run] = []

        def cancel(called: str) -> None:
            if called == method:
                recorder.entering = None
                stack.cancel()

        recorder.entering = cancel
        thread = threading.Thread(target=lambda: ended.append(stack.run(operation)), name="maloko-law-14", daemon=True)
        thread.start()
        if not waited_for(lambda: bool(ended), self._trial.settings.grace):
            return {"ended": False}
        thread.join()
        return {"ended": True}

    def _put_former(self, number: int) -> None:
        former = self._former[number]
        asked_of_stack(self._stack, {"do": "put-former", "former": former})
        set_inputs(self._stack, former["inputs"])

    # The world.

    def _look(self) -> list[str] | None:
        return self._trial.ids()

    # What was heard of the provider.

    def _returned_last(self, method: str) -> dict[str, Any] | None:
        heard = self._trial.recorder.of(method)
        if not heard:
            return None
        outputs: Any = getattr(heard[-1].result, "outs", None) or {}
        odd = odd_in(outputs)
        return {"outputs": {} if odd else plain(outputs), "odd": odd}

    def _guard(self) -> None:
        world = self._trial.world
        self._trial.recorder.requests = lambda: _requests_of(world)
        self._touched = self._opened.enter_context(sockets_watched())

    def _touches(self) -> list[dict[str, Any]]:
        network = [{"what": "network", "method": method, "used": used} for method, used in self._touched]
        requests = [
            {"what": "requests", "method": it.method, "requests": it.requests}
            for it in self._trial.recorder.calls
            if it.method in ("check", "diff") and it.requests
        ]
        return [*network, *requests]

    def _shown(self) -> dict[str, Any]:
        raised = [(it.method, it.error) for it in self._trial.recorder.calls if it.error is not None]
        errors = [
            {"method": method, "error": error_text(error), "whole": f"{error} {error!r}"} for method, error in raised
        ]
        provider = printed(self._trial.provider, self._trial.world)
        shown = {"printed": self._printed.getvalue(), "provider": provider}
        texts: dict[str, Any] = plain({"errors": errors, "messages": self._messages, **shown})
        return texts


def _planted(value: Any, path: list[str], text: str) -> Any:
    """A value with another text at a path; as it is where there is no text."""
    key, *rest = path
    if not isinstance(value, Mapping) or key not in value:
        return value
    inner = _planted(value[key], rest, text) if rest else text if isinstance(value[key], str) else value[key]
    return {**value, key: inner}


def _requests_of(world: Any) -> int:
    calls = getattr(world, "calls", None)
    return calls if isinstance(calls, int) else 0
