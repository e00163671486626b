"""One example: a new provider object, an empty world, and stacks over both."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from maloko.testing._cloud._leftovers import tear_down
from maloko.testing._kit import Kit
from maloko.testing._laws._recorder import Recorder, defines
from maloko.testing._laws._settings import Settings
from maloko.testing._laws._words import error_text
from maloko.testing._laws._worlds import Place, ids_of
from maloko.testing._operations._plan import Plan, PlanEntry
from maloko.testing._operations._stack import Stack
from maloko.testing._values import Secret

NAME = "it"
"""The name of the resource."""

Inputs = Mapping[str, Any]


class Made(NamedTuple):
    """The outputs of an object, and its id."""

    outputs: Any
    id: str


class Told(NamedTuple):
    """What a report says of an example that breaks a law, without secrets."""

    inputs: list[dict[str, Any]]
    """The inputs that were tried last, each with what they are called."""
    error: str
    """What was raised."""


class PassOver(Exception):  # noqa: N818 it is no error
    """An example says nothing about the law; the message says what one would have to have."""


class Refused(PassOver):
    """The provider refuses the inputs of an example."""


class Broken(AssertionError):  # noqa: N818 it is what has become of the law
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

    def stack(self, inputs: Inputs, **options: Any) -> Stack:
        """A stack with the one resource."""
        return self.stack_of({NAME: inputs}, **options)

    def stack_of(
        self, wanted: Mapping[str, Inputs], *, secret: bool = False, provider: Any = None, **options: Any
    ) -> Stack:
        """A stack with a resource for each name; `set_inputs` changes them.

        :param provider: whose resources they are; the trial's own unless it is given.
        """
        marked = self.settings.secret if secret else None
        made = self.provider if provider is None else provider
        program, resources = program_for(lambda: made, wanted, marked or frozenset())
        config, secrets = split_secrets(self.settings.config_for(self.world))
        stack = Stack(self._kit, program, config=config, secrets=secrets, **options)
        setattr(stack, "wanted", resources)  # noqa: B010 what the program makes belongs to the stack
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
    from pulumi.dynamic import Resource

    from maloko._providers.registered import lend
    from maloko.testing._operations._programs import _class_name

    resources = {name: dict(inputs) for name, inputs in wanted.items()}
    example = provider()
    kind = type(_class_name(example), (Resource,), {"__module__": type(example).__module__})

    def program() -> None:
        lend(provider())
        for name, inputs in resources.items():
            kind(provider(), name, _marked(inputs, secret))

    return program, resources


def _marked(value: Any, secret: frozenset[str], path: str = "") -> Any:
    """A value with what stands at these paths marked as secret."""
    import pulumi

    if path in secret:
        return pulumi.Output.secret(value)
    if not isinstance(value, Mapping):
        return value
    return {key: _marked(item, secret, f"{path}.{key}" if path else str(key)) for key, item in value.items()}


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


def import_of(stack: Stack, name: str) -> dict[str, Any]:
    """Forgets a resource; what an import of its object is told."""
    resource = stack.resources()[name]
    stack.state = stack.state.without([resource["urn"]])
    return {"urn": resource["urn"], "type": resource["type"], "parent": resource["parent"], "id": resource["id"]}


def waited_for(done: Callable[[], bool], seconds: float) -> bool:
    """Does something come true within so many seconds of the machine's clock?"""
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            return False
        time.sleep(0.002)
    return True
