"""One example: a new provider object, an empty world, and stacks over both."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from maloko.testing._kit import Kit
from maloko.testing._laws._recorder import Recorder, defines
from maloko.testing._laws._settings import Settings
from maloko.testing._laws._words import error_text
from maloko.testing._laws._worlds import Needs, Place
from maloko.testing._operations._leftovers import tear_down
from maloko.testing._operations._outcome import Run
from maloko.testing._operations._stack import Stack
from maloko.testing._values import Secret
from maloko.testing._worlds import ids_of

if TYPE_CHECKING:
    from maloko._maloko import TestStack

NAME = "it"
"""The name of the resource."""

Inputs = Mapping[str, Any]


class ExampleReport(NamedTuple):
    """What a report says of an example that breaks a law, without secrets."""

    inputs: list[dict[str, Any]]
    """The inputs that were tried last, each with what they are called."""
    error: str
    """What was raised."""


class PassOver(Exception):  # noqa: N818 it is no error
    """An example says nothing about the law; the message says what one would have to have."""


class InputsRefused(PassOver):
    """The provider refuses the inputs of an example."""


class LawBreach(AssertionError):  # noqa: N818 it is what has become of the law
    """A law does not hold."""

    def __init__(self, words: dict[str, str]) -> None:
        """:param words: what was found: `property`, `expected`, `found`, `advice`."""
        self.words = words
        super().__init__("{property}: expected {expected}, found {found}".format(**words))


class Trial:
    """What a law has to try an example with."""

    def __init__(self, settings: Settings, place: Place) -> None:
        self.settings = settings
        self._place = place
        self._begin()

    def renew(self) -> None:
        """An empty world and a new provider object."""
        self.close()
        self._begin()

    def _begin(self) -> None:
        """Begins with what is in the world: nothing, where it can begin anew."""
        self._kit = Kit("laws")
        self._place.renew()
        self._before = set() if self.world is None else set(ids_of(self.world))
        self.recorder = Recorder()
        self.provider: Any = self.recorder.listen(self.settings.make_provider(self.world))

    def close(self) -> None:
        """Leaves nothing behind in a world that does not begin anew by itself."""
        if not self._place.resets:
            for stack in reversed(self._kit.stacks):
                tear_down(stack)

    @property
    def world(self) -> Any:
        """The world; `None` without one."""
        return self._place.now

    def has(self, method: str) -> bool:
        """Does the provider define the method?"""
        return defines(type(self.provider), method)

    def ids(self) -> list[str] | None:
        """The ids of what is in the world since the trial began, sorted; `None` without a world."""
        return None if self.world is None else sorted(id_ for id_ in ids_of(self.world) if id_ not in self._before)

    def stack_of(
        self,
        wanted: Mapping[str, Inputs],
        *,
        secret: bool = False,
        provider: Any = None,
        state: TestStack | None = None,
    ) -> Stack:
        """A stack with a resource for each name; `set_inputs` changes them.

        :param provider: whose resources they are; the trial's own unless it is given.
        :param state: the state of another stack, which they share.
        """
        marked = self.settings.secret if secret else None
        program, resources = program_for(self.provider if provider is None else provider, wanted, marked or frozenset())
        config = self.settings.config_for(self.world)
        secrets = {key: it.value for key, it in config.items() if isinstance(it, Secret)}
        stack = Stack(self._kit, program, config=config, secrets=secrets, state=state)
        setattr(stack, "wanted", resources)  # noqa: B010 what the program makes belongs to the stack
        return stack


def set_inputs(stack: Stack, inputs: Inputs, name: str = NAME) -> None:
    """Edits the program."""
    stack.wanted[name] = dict(inputs)  # type: ignore[attr-defined]


def program_for(
    provider: Any, wanted: Mapping[str, Inputs], secret: frozenset[str]
) -> tuple[Callable[[], None], dict[str, dict[str, Any]]]:
    """A program that makes resources by name, and the inputs that it reads when it runs."""
    from maloko._providers.registered import lend
    from maloko.testing._operations._programs import resource_class_of

    resources = {name: dict(inputs) for name, inputs in wanted.items()}
    kind = resource_class_of(provider)

    def program() -> None:
        lend(provider)
        for name, inputs in resources.items():
            kind(provider, name, _marked(inputs, secret))

    return program, resources


def _marked(value: Any, secret: frozenset[str], path: str = "") -> Any:
    """A value with what stands at these paths marked as secret."""
    import pulumi

    if path in secret:
        return pulumi.Output.secret(value)
    if not isinstance(value, Mapping):
        return value
    return {key: _marked(item, secret, f"{path}.{key}" if path else str(key)) for key, item in value.items()}


def asked_of_stack(stack: Stack, request: Mapping[str, Any]) -> Any:
    """What a procedure asks of a stack beside operations (`engine-kit/src/stack/requests.rs`)."""
    return json.loads(stack._state.answer(json.dumps(request)))


def end_with(end: Mapping[str, Any], raised: BaseException | None) -> None:
    """Raises what a procedure of the engine's side ends with; nothing where the law holds.

    :param raised: what the provider has raised last.
    """
    match end["outcome"]:
        case "needs":
            raise Needs(end["what"])
        case "pass-over":
            raise PassOver(end["what"])
        case "refused":
            raise InputsRefused(end["error"]) from raised
        case "raised" if raised is not None:
            raise raised
        case "broken":
            raise LawBreach(end["words"]) from (raised if end["caused"] else None)


def told_of(run: Run) -> str | None:
    """The error of a run: what the program or the provider raised, or else the engine's; `None` without one."""
    if run.outcome == "succeeded":
        return None
    return error_text(run.exception) if run.exception is not None else run.error or f"the operation {run.outcome}"


def waited_for(done: Callable[[], bool], seconds: float) -> bool:
    """Does something come true within so many seconds of the machine's clock?"""
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            return False
        time.sleep(0.002)
    return True
