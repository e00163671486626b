"""Does what a law on the engine's side asks for (`engine-kit/src/laws`): calls, operations on a stack, looks."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from maloko._maloko import LawTrial
from maloko.testing._direct import Direct, _bag
from maloko.testing._laws._recorder import METHODS
from maloko.testing._laws._trial import NAME, Broken, Inputs, Refused, Trial, entry_of
from maloko.testing._laws._words import error_text, plain
from maloko.testing._laws._worlds import Needs
from maloko.testing._operations._runs import Run
from maloko.testing._operations._stack import Stack


def tried_by_engine(law: str) -> Callable[..., None]:
    """What tries a law whose procedure is the engine's."""

    def check(trial: Trial, inputs: Inputs) -> None:
        with ExitStack() as opened:
            _Host(trial, inputs, opened).drive(law)

    return check


class _Host:
    def __init__(self, trial: Trial, inputs: Inputs, opened: ExitStack) -> None:
        self._trial, self._inputs, self._opened = trial, inputs, opened
        self._direct: Direct | None = None
        self._returned: list[dict[str, Any]] = []
        self._stack: Stack | None = None
        self._saved: dict[str, Any] = {}
        self._failure: BaseException | None = None

    def drive(self, law: str) -> None:
        """Does one thing after the other, up to the end."""
        methods = [method for method in METHODS if self._trial.has(method)]
        procedure = LawTrial(law, json.dumps({"methods": methods}))
        answer: Any = None
        while True:
            request = json.loads(procedure.next(json.dumps(answer)))
            match request["do"]:
                case "check":
                    answer = self._check(request["olds"], request["news"])
                case "run":
                    answer = self._run(request["operation"])
                case "save":
                    self._save()
                    answer = None
                case "restore":
                    self._restore()
                    answer = None
                case "look":
                    answer = self._trial.ids()
                case _:
                    return self._end(request)

    def _check(self, olds: Any, news: Any) -> dict[str, Any]:
        if self._direct is None:
            config = self._trial.settings.config_for(self._trial.world)
            self._direct = self._opened.enter_context(Direct(self._trial.provider, config=config))
        arguments = {"olds": self._bag(olds), "news": self._bag(news)}
        given = plain(arguments)
        _, inputs, failures = self._direct._call("check", arguments["olds"], arguments["news"])
        kept = {} if failures else _bag(inputs or {}, "what check returned")
        self._returned.append(kept)
        refused = [[str(name), str(reason)] for name, reason in failures]
        return {"inputs": plain(kept), "failures": refused, "given": given, "left": plain(arguments)}

    def _bag(self, which: Any) -> dict[str, Any]:
        if which == "empty":
            return {}
        return _bag(self._inputs, "inputs") if which == "inputs" else copy.deepcopy(self._returned[which["returned"]])

    def _run(self, operation: str) -> dict[str, Any]:
        if self._stack is None:
            self._stack = self._trial.stack(self._inputs)
        run = self._stack.run(operation)
        self._failure = run.failure()
        rows = self._stack.resources()
        answer = {"error": _told(run), "id": rows[NAME]["id"] if NAME in rows else None}
        if self._failure is None and operation in ("preview", "up"):
            entry = entry_of(run.plan)
            changes = [{"path": path, "old": it.old, "new": it.new} for path, it in sorted(entry.changes.items())]
            answer["step"] = plain({"action": entry.action, "changes": changes})
        return answer

    def _save(self) -> None:
        if self._stack is not None:
            self._saved = self._stack.export()

    def _restore(self) -> None:
        if self._stack is not None:
            self._stack.restore(self._saved)

    def _end(self, end: dict[str, Any]) -> None:
        match end["outcome"]:
            case "needs":
                raise Needs(end["what"])
            case "refused":
                raise Refused(end["error"]) from self._failure
            case "raised" if self._failure is not None:
                raise self._failure
            case "broken":
                raise Broken.of(end["words"]) from (self._failure if end["caused"] else None)


def _told(run: Run) -> str | None:
    """The error of a run: that of the provider, or else the engine's."""
    if run.outcome == "succeeded":
        return None
    return error_text(run.exception) if run.exception is not None else str(run.error)
