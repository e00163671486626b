"""Tries a law on examples, shrinks what breaks it, and says so."""

from __future__ import annotations

import functools
import itertools
import re
import sys
import warnings
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from maloko._errors import MalokoError
from maloko.testing._judgement import ask
from maloko.testing._laws._host import try_law
from maloko.testing._laws._plugin import Plugin
from maloko.testing._laws._plugin_host import try_plugin
from maloko.testing._laws._settings import Settings
from maloko.testing._laws._trial import ExampleReport, InputsRefused, LawBreach, PassOver, Trial
from maloko.testing._laws._words import error_text, text_of
from maloko.testing._laws._worlds import Needs, Place

SHRINKS = 150
"""So many inputs are tried at most to find smaller ones that break a law."""


@dataclass(frozen=True)
class Law:
    """A law, as `engine-kit/src/laws/table.rs` has it."""

    name: str
    """`L5`."""
    title: str
    """What holds."""
    inputs: int
    """How many inputs an example of it has."""
    shrinks: bool
    """Are smaller inputs looked for that break it, too?"""


@functools.cache
def laws() -> dict[str, Law]:
    """The laws by name, in order."""
    return {it["name"]: Law(it["name"], it["title"], it["inputs"], it["shrinks"]) for it in ask("laws")}


@dataclass(frozen=True)
class LawResult:
    """What is known of a law and a provider."""

    law: str
    """Its name: `L5`."""
    outcome: str
    """`holds`, `broken`, `needs` (something that was not given) or `waived`."""
    text: str
    """Why; of a law that holds, after how many examples."""
    error: BaseException | None = None
    """The exception that broke it, if it was one of the provider's."""
    cause: BaseException | None = None
    """What the provider raised last, where the law was broken by that."""


def judge(law: Law, settings: Settings, seed: int | None = None, again: str = "") -> LawResult:
    """Tries a law."""
    if law.name in settings.waive:
        return _law_result(law, settings, "waived", reason=settings.waive[law.name])
    chosen = zlib.crc32(law.name.encode()) if seed is None else seed
    case = _Case(law, settings, chosen)
    try:
        case.run()
    except Needs as error:
        return _law_result(law, settings, "needs", what=str(error))
    if case.failed is None and case.tried == 0:
        return _nothing_tried(case)
    if case.failed is None:
        return _law_result(law, settings, "holds", examples=case.tried)
    replay = f"{again} --maloko-seed={chosen}" if again else f"seed={chosen}"
    raised = None if isinstance(case.failed, LawBreach) else own_frames(case.failed)
    words = case.failed.words if isinstance(case.failed, LawBreach) else None
    found = {"words": words, "raised": case.told.error, "inputs": case.told.inputs, "flaky": case.flaky}
    result = _law_result(law, settings, "broken", raised, **found, again=replay)
    return replace(result, cause=raised or case.failed.__cause__)


def _law_result(
    law: Law, settings: Settings, outcome: str, cause: BaseException | None = None, /, **found: Any
) -> LawResult:
    text = text_of(law.name, law.title, settings.name, outcome, found)
    return LawResult(law.name, _OUTCOMES.get(outcome, outcome), text, cause)


_OUTCOMES = {"refused": "broken", "untried": "needs"}
"""What a law that could not be tried counts as."""


def own_frames(error: Exception) -> Exception:
    """An exception of the provider's with its own frames first: those of the law and of Hypothesis help nobody."""
    frame = error.__traceback__
    while frame is not None and _STRANGE.search(frame.tb_frame.f_code.co_filename):
        frame = frame.tb_next
    return error.with_traceback(frame) if frame is not None else error


_STRANGE = re.compile(r"[\\/](?:maloko|hypothesis)[\\/]")


class _Case:
    def __init__(self, law: Law, settings: Settings, seed: int) -> None:
        self.law, self.settings, self.seed = law, settings, seed
        self.tried = 0
        self.failed: Exception | None = None
        self.inputs: tuple[Any, ...] = ()
        self.told = ExampleReport([], "")
        """What a report says of the example that has failed."""
        self._last: ExampleReport | None = None
        self.flaky = False
        self.passed_over: list[PassOver] = []
        self._place = Place(settings.world)
        self._listed_count: int | None = None

    def run(self) -> None:
        try:
            if is_strategy(self.settings.inputs):
                self._generated()
            else:
                self._listed()
        finally:
            self._place.end()

    def _try(self, inputs: tuple[Any, ...]) -> None:
        self._last = None
        if isinstance(self.settings.provider, Plugin):
            return try_plugin(self.law.name, self.settings, self._place, inputs, self._listed_count, self._tell)
        trial = Trial(self.settings, self._place)
        try:
            return try_law(self.law.name, trial, inputs, self._listed_count, self._tell)
        finally:
            trial.close()

    def _tell(self, told: ExampleReport) -> None:
        self._last = told

    def _examples(self, count: int = 0) -> dict[str, Any]:
        """Which examples are tried; `count`: how many inputs there are in a list."""
        usual = max(1, self.settings.examples)
        examples: dict[str, Any] = ask("law_examples", law=self.law.name, usual=usual, count=count)
        return examples

    def _listed(self) -> None:
        examples = plain_examples(self.settings)
        self._listed_count = len([it for at, it in enumerate(examples) if it not in examples[:at]])
        for numbers in self._examples(len(examples))["listed"]:
            inputs = tuple(examples[number] for number in numbers)
            error, told = self._outcome(inputs)
            if error is not None and not isinstance(error, PassOver):
                self.failed, self.inputs, self.told = error, inputs, told
                return

    def _generated(self) -> None:
        import hypothesis
        from hypothesis import errors

        from maloko.testing._laws._strategies import examples_of

        count = self._examples()["drawn"]
        known: dict[str, tuple[Exception | None, ExampleReport]] = {}
        attempts = itertools.count(1)
        failures = itertools.count(1)

        def body(inputs: tuple[Any, ...]) -> None:
            # The same inputs come again and again while they are shrunk; and an engine's run costs milliseconds.
            key = repr(inputs)
            if key not in known:
                enough = next(failures) > SHRINKS if self.failed is not None else next(attempts) > 3 * count
                if enough and (self.failed is not None or self.tried):
                    return
                known[key] = self._outcome(inputs)
            error, told = known[key]
            if isinstance(error, PassOver):
                hypothesis.reject()
            if error is not None:
                self.failed, self.inputs, self.told = error, inputs, told
                raise error

        test = hypothesis.given(examples_of(self.settings.inputs, self.law.inputs))(body)
        test = hypothesis.settings(
            max_examples=count,
            database=None,
            deadline=None,
            print_blob=False,
            report_multiple_bugs=False,
            suppress_health_check=list(hypothesis.HealthCheck),
            phases=(hypothesis.Phase.generate, *((hypothesis.Phase.shrink,) if self.law.shrinks else ())),
        )(hypothesis.seed(self.seed)(test))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", errors.HypothesisWarning)
                test()
        except errors.Unsatisfiable:
            return
        except (Needs, MalokoError):
            raise
        except errors.HypothesisException:
            if self.failed is None:
                raise
        except Exception as error:
            if self.failed is None:
                raise
            notes = getattr(error, "__notes__", None)
            if notes is not None:
                # What Hypothesis adds shows its own frames and ours; the message has the inputs already.
                notes[:] = [note for note in notes if note.startswith("maloko:")]
            self.flaky = self._outcome(self.inputs)[0] is None

    def _outcome(self, inputs: tuple[Any, ...]) -> tuple[Exception | None, ExampleReport]:
        """What becomes of an example: what it raises, or `None` when the law holds; and what a report says of that."""
        try:
            self._try(inputs)
        except (Needs, MalokoError):
            raise
        except Exception as error:
            if isinstance(error, PassOver):
                self.passed_over.append(error)
            return error, self._last or ExampleReport([], error_text(error))
        self.tried += 1
        return None, ExampleReport([], "")


def is_strategy(inputs: Any) -> bool:
    """Is it a Hypothesis strategy? Loads nothing."""
    module = sys.modules.get("hypothesis.strategies")
    return module is not None and isinstance(inputs, module.SearchStrategy)


def plain_examples(settings: Settings) -> Sequence[dict[str, Any]]:
    """The examples of a list; raises `MalokoError` for what is none."""
    inputs = settings.inputs
    if isinstance(inputs, Sequence) and inputs and all(isinstance(item, dict) for item in inputs):
        return inputs
    raise MalokoError(
        f"`inputs` is {inputs!r}: give a list of dicts, one for each example, or a Hypothesis strategy that makes "
        "dicts (pip install hypothesis)"
    )


def _nothing_tried(case: _Case) -> LawResult:
    reasons = case.passed_over
    found = ask(
        "nothing_tried", examples=[{"refused": isinstance(it, InputsRefused), "text": str(it)} for it in reasons]
    )
    cause = reasons[0].__cause__ if found["outcome"] == "refused" else None
    return _law_result(case.law, case.settings, found.pop("outcome"), cause, **found)
