"""One example: a new provider object, an empty world, and stacks over both."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from maloko.testing._cloud._leftovers import tear_down
from maloko.testing._kit import Kit
from maloko.testing._laws._compare import NOTHING, Made
from maloko.testing._laws._recorder import Recorder, defines
from maloko.testing._laws._settings import Settings
from maloko.testing._laws._words import error_text, words_of
from maloko.testing._laws._worlds import Needs, Place, ids_of
from maloko.testing._operations._plan import Plan, PlanEntry
from maloko.testing._operations._stack import Stack
from maloko.testing._values import Secret

NAME = "it"
"""The name of the resource."""

Inputs = Mapping[str, Any]


class PassOver(Exception):  # noqa: N818 it is no error
    """An example says nothing about the law; the message says what one would have to have."""


class Refused(PassOver):
    """The provider refuses the inputs of an example."""


class Broken(AssertionError):  # noqa: N818 it is what has become of the law
    """A law does not hold."""

    def __init__(self, kind: str, **found: Any) -> None:
        """
        :param kind: what was found, as `engine-kit/src/laws/finding.rs` names it; it has the words.
        :param found: the members of that finding; a value that is `NOTHING` is left out.
        """
        self._tell(words_of(kind, {key: it for key, it in found.items() if it is not NOTHING}))

    @classmethod
    def of(cls, words: dict[str, str]) -> Broken:
        """What the engine's side has found, in its words."""
        broken = cls.__new__(cls)
        broken._tell(words)
        return broken

    def _tell(self, words: dict[str, str]) -> None:
        self.words = words
        super().__init__("{property}: expected {expected}, found {found}".format(**words))


class Trial:
    """What a law has to try an example with."""

    def __init__(self, settings: Settings, place: Place) -> None:
        self.settings = settings
        self._place = place
        self._kit = Kit("laws")
        place.renew()
        self.begin()

    def begin(self) -> None:
        """A new provider object, as after a restart; the world stays."""
        self.recorder = Recorder()
        self.provider: Any = self.recorder.listen(self.settings.make_provider(self.world))

    def renew(self) -> None:
        """An empty world and a new provider object."""
        self.close()
        self._kit = Kit("laws")
        self._place.renew()
        self.begin()

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

    def need(self, method: str, why: str) -> None:
        """Raises `Needs` for a provider without the method."""
        if not self.has(method):
            raise Needs(f"`{method}`, which the provider does not have: {why}")

    def ids(self) -> list[str] | None:
        """The ids of what is in the world, sorted; `None` without a world."""
        return None if self.world is None else sorted(ids_of(self.world))

    def stack(self, inputs: Inputs, **options: Any) -> Stack:
        """A stack with the one resource."""
        return self.stack_of({NAME: inputs}, **options)

    def stack_of(self, wanted: Mapping[str, Inputs], *, secret: bool = False, **options: Any) -> Stack:
        """A stack with a resource for each name; `set_inputs` changes them."""
        marked = self.settings.secret if secret else None
        program, rows = program_for(lambda: self.provider, wanted, marked or frozenset())
        config, secrets = split_secrets(self.settings.config_for(self.world))
        stack = Stack(self._kit, program, config=config, secrets=secrets, **options)
        setattr(stack, "wanted", rows)  # noqa: B010 what the program makes belongs to the stack
        return stack

    def made(self, inputs: Inputs, **options: Any) -> Stack:
        """A stack whose resource was created. Raises `Refused` when the provider refuses its inputs."""
        stack = self.stack(inputs, **options)
        self.first_up(stack)
        return stack

    def first_up(self, stack: Stack) -> Plan:
        """The first `up`. Raises `Refused` when it fails."""
        run = stack.run("up")
        if run.outcome == "succeeded":
            return run.plan
        failure = run.failure()
        raise Refused(error_text(failure)) from failure


def set_inputs(stack: Stack, inputs: Inputs, name: str = NAME) -> None:
    """Edits the program."""
    stack.wanted[name] = dict(inputs)  # type: ignore[attr-defined]


def made_of(stack: Stack) -> Made:
    """The object of the resource."""
    return Made(stack.outputs(NAME), stack.id(NAME))


def program_for(
    provider: Callable[[], Any], wanted: Mapping[str, Inputs], secret: frozenset[str]
) -> tuple[Callable[[], None], dict[str, dict[str, Any]]]:
    """A program that makes resources by name, and the inputs that it reads when it runs."""
    import pulumi
    from pulumi.dynamic import Resource

    from maloko.testing._operations._programs import _class_name

    rows = {name: dict(inputs) for name, inputs in wanted.items()}
    example = provider()
    kind = type(_class_name(example), (Resource,), {"__module__": type(example).__module__})

    def program() -> None:
        for name, inputs in rows.items():
            marked = {key: pulumi.Output.secret(it) if key in secret else it for key, it in inputs.items()}
            kind(provider(), name, marked)

    return program, rows


def split_secrets(config: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Configuration, and what of it is secret."""
    plain = {key: value for key, value in config.items() if not isinstance(value, Secret)}
    return plain, {key: value.value for key, value in config.items() if isinstance(value, Secret)}


def entry_of(plan: Plan) -> PlanEntry:
    """What becomes of the resource; of one that is not in the plan, raises `Broken`."""
    try:
        return plan[NAME]
    except KeyError:
        raise AssertionError("the resource is not in the plan: the engine has lost it") from None


def waited_for(done: Callable[[], bool], seconds: float) -> bool:
    """Does something come true within so many seconds of the machine's clock?"""
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            return False
        time.sleep(0.002)
    return True
