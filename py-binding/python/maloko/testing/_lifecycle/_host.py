"""Does what the steps of a lifecycle ask for (`engine-kit/src/lifecycle/exchange.rs`): calls, operations, looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from maloko.testing._direct import Direct
from maloko.testing._laws._recorder import METHODS
from maloko.testing._laws._settings import Settings
from maloko.testing._laws._trial import NAME, Trial, asked_of_stack, told_of
from maloko.testing._laws._words import error_text, plain
from maloko.testing._laws._worlds import OF_WORLD, Place, abilities_of, asked_of
from maloko.testing._operations._outcome import Run
from maloko.testing._operations._runs import on_a_free_thread
from maloko.testing._operations._stack import Stack

_WRITING = ("create", "update", "delete")


class Host:
    """A provider, its world, and all who deploy it."""

    def __init__(self, settings: Settings) -> None:
        """:param settings: what the author says of the provider."""
        self._settings = settings
        self.place = Place(settings.world)
        """The world, over all examples."""
        self.trial = Trial(settings, self.place)
        """The world now, and providers in it."""
        self.inputs: list[dict[str, Any]] = []
        """The inputs that steps are about, by their numbers."""
        self.program: dict[str, dict[str, Any]] = {}
        """What the program says."""
        self.failure: BaseException | None = None
        """What the last call or operation raised."""
        self._provider = self.trial.provider
        self._writers: dict[int, Stack] = {0: self.trial.stack_of({})}

    def subject(self) -> dict[str, Any]:
        """What is known of the provider and its world."""
        return {
            "name": self._settings.name,
            "methods": [method for method in METHODS if self.trial.has(method)],
            "world": abilities_of(self.trial.world),
            "resets": self.place.resets,
            "volatile": sorted(self._settings.volatile),
        }

    def answer(self, request: dict[str, Any]) -> Any:
        """Does one thing."""
        if request["do"] in OF_WORLD:
            return asked_of(self.trial.world, request)
        return getattr(self, f"_{request.pop('do').replace('-', '_')}")(**request)

    def close(self) -> None:
        """Leaves the world."""
        self.trial.close()
        self.place.end()

    # Without an engine.

    def _check(self, inputs: int) -> dict[str, Any]:
        return self._asked(inputs, "check") if self.trial.has("check") else {}

    def _make(self, inputs: int) -> dict[str, Any]:
        return self._asked(inputs, "create")

    def _asked(self, number: int, method: str) -> dict[str, Any]:
        config = self._settings.config_for(self.trial.world)
        self.failure = None
        try:
            with Direct(self._provider, config=config) as asked:
                checked = asked.check({}, self.inputs[number])
                if checked.failures:
                    return {"refused": True}
                return {"id": asked.create(checked.inputs).id if method == "create" else None}
        except Exception as error:
            self.failure = error
            return {"error": error_text(error)}

    # Stacks.

    def _make_afresh(self, name: str, inputs: int) -> dict[str, Any] | None:
        self.trial.renew()
        stack = self.trial.stack_of({NAME: self.inputs[inputs]})
        if stack.run("up").outcome != "succeeded":
            return None
        return {"id": stack.id(NAME), "outputs": plain(stack.outputs(NAME))}

    def _program(self, resources: dict[str, int]) -> None:
        self.program = {name: self.inputs[number] for name, number in resources.items()}
        for stack in self._writers.values():
            self._tell(stack)

    def _tell(self, stack: Stack) -> None:
        resources: dict[str, Any] = stack.wanted  # type: ignore[attr-defined]
        resources.clear()
        resources.update(self.program)

    def _begin(self, writer: int) -> None:
        self._provider = self.trial.recorder.listen(self._settings.make_provider(self.trial.world))
        self._writers[writer] = self.trial.stack_of({}, provider=self._provider, state=self._writers[0]._state)
        self._tell(self._writers[writer])

    def _run(self, order: dict[str, Any], writer: int, loses: bool, meanwhile: int | None) -> dict[str, Any]:
        stack = self._writers[writer]
        verb = "preview" if order["preview"] else order["verb"]
        tried: list[str | None] = []
        run: Run | None = None
        with ExitStack() as faults:
            if loses:
                lost = ConnectionError("the answer was lost")
                for method in _WRITING:
                    faults.enter_context(stack.stub(method=method, raises=lost, after=True))
            if meanwhile is not None:
                faults.enter_context(self._entering(lambda: tried.append(_refusal_of(self._writers[meanwhile]))))
            try:
                run = on_a_free_thread(lambda: stack._execute(verb, order, None))
            except RuntimeError:  # so early that the state could not even be opened
                if "crash" not in order:
                    raise
        return {**self._answer(stack, run), "meanwhile": {"error": tried[0]} if tried else None}

    def _forget(self, name: str) -> Any:
        return asked_of_stack(self._writers[0], {"do": "forget", "name": name})

    @contextmanager
    def _entering(self, act: Callable[[], Any]) -> Iterator[None]:
        """Acts once, when the first method that changes the world is entered."""
        recorder = self.trial.recorder

        def entering(method: str) -> None:
            if method in _WRITING:
                recorder.entering = None
                act()

        recorder.entering = entering
        try:
            yield
        finally:
            recorder.entering = None

    def _answer(self, stack: Stack, run: Run | None) -> dict[str, Any]:
        outcome: dict[str, Any] = asked_of_stack(stack, {"do": "life-outcome"})
        if run is not None:
            self.failure = run._failure()
            outcome["error"] = told_of(run)
        return outcome

    # The world.

    def _look(self) -> list[str] | None:
        return self.trial.ids()


def _refusal_of(stack: Stack) -> str | None:
    """Tries an `up`; why it failed, and `None` when it did not."""
    try:
        return told_of(stack.run("up"))
    except Exception as error:  # a state that is locked cannot even be opened
        return str(error)
