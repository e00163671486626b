"""The life of a stack, step by step, with what must hold after every step."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from typing import Any

from maloko._errors import MalokoError
from maloko._maloko import LifeTrial
from maloko.testing._laws._plugin import Plugin
from maloko.testing._laws._settings import Settings
from maloko.testing._laws._words import error_without_secrets, plain
from maloko.testing._lifecycle._host import Host
from maloko.testing._lifecycle._plugin_host import PluginHost


class LifecycleBroken(AssertionError):  # noqa: N818 it is what has become of the lifecycle
    """Something that must hold after every step of a lifecycle does not; the message has a program that shows it."""

    __module__ = "maloko.testing"


class Lifecycle:
    """The life of a stack with up to three resources of one provider, `a`, `b` and `c`: each method is a step, and
    checks afterwards that the state is what it must be, that nothing is there twice or left over, and that an `up`
    settles.

    A failure prints a program of these steps. A step that cannot be done raises `ValueError`.
    """

    def __init__(
        self,
        provider: Any,
        *,
        world: Any = None,
        config: Any = None,
        volatile: Collection[str] = (),
        unique: Collection[str] = (),
        without: Mapping[str, str] | None = None,
        secret: Collection[str] = (),
    ) -> None:
        """
        :param provider: the provider's class, or a function that makes an object; called with the world if it wants it.
            Or a `Plugin`.
        :param world: as for `ProviderLaws`.
        :param config: as for `ProviderLaws`.
        :param volatile: outputs that change by themselves.
        :param unique: inputs of which no two resources have the same value at a time, such as a name.
        :param without: rules that are left out, each with the reason. Another one raises `MalokoError`.
        :param secret: inputs that are secret, by name or path: what goes wrong is told without their values.
        """
        self._settings = Settings(
            name=provider.type if isinstance(provider, Plugin) else getattr(provider, "__qualname__", repr(provider)),
            provider=provider,
            inputs=[],
            world=world,
            config=config,
            volatile=frozenset(volatile),
            secret=_names_of("secret", secret),
        )
        self._unique = sorted(unique)
        self._host = PluginHost(self._settings) if isinstance(provider, Plugin) else Host(self._settings)
        self._closed = False
        subject = {**self._host.subject(), "unique": self._unique, "without": plain(without or {})}
        subject["secret"] = sorted(self._settings.secret or ())
        try:
            self._trial = LifeTrial(json.dumps(subject))
        except ValueError as error:
            raise MalokoError(str(error)) from None
        self._story = json.dumps(self._written())

    # Steps.

    def edit(self, name: str, inputs: Mapping[str, Any]) -> None:
        """The program has a resource, with these inputs. Inputs that `check` refuses do not get into it."""
        self._step("edit", name, inputs)

    def remove(self, name: str) -> None:
        """The program has the resource no more."""
        self._step("remove", name)

    def up(self) -> None:
        """Deploys, and plans again: that plan must be empty."""
        self._step("up")

    def preview(self) -> None:
        """Plans; nothing may change."""
        self._step("preview")

    def refresh(self) -> None:
        """Makes the state as the world is."""
        self._step("refresh")

    def destroy(self) -> None:
        """Removes everything; nothing may be left."""
        self._step("destroy")

    def import_(self, name: str, inputs: Mapping[str, Any] | None = None) -> None:
        """Takes an object over by its id.

        :param inputs: what somebody made it with. Without them, the stack forgets the resource, and takes its object
            over as somebody else's stack would.
        """
        self._step("import", name, *(() if inputs is None else (inputs,)))

    def drift(self, name: str) -> None:
        """Changes the object behind the provider's back."""
        self._step("drift", name)

    def vanish(self, name: str) -> None:
        """Removes the object behind the provider's back."""
        self._step("vanish", name)

    def crash(self, nth: int, kind: str) -> None:
        """Begins an `up` that is cut off; the next `up` must mend everything.

        :param nth: at which of its points, counted from 1 and again and again: before or after a call, or at a write
            to the journal. An `up` that has nothing to do has none.
        :param kind: one of `kill`, `raise_before`, `raise_after`, `hang`, `enospc`, `lose_lock`.
        """
        self._step("crash", nth, kind)

    def lose_answer(self) -> None:
        """Begins an `up` in which the provider does what it is asked to, and its answers are lost; the next `up` must
        mend that."""
        self._step("lose_answer")

    def restart(self) -> None:
        """Another process goes on: a new provider object over the same state."""
        self._step("restart")

    def second_writer(self, moment: str = "during") -> None:
        """Somebody else deploys the same program on the same stack, with a provider object of their own.

        :param moment: `before` this one deploys, or `during` that, where it has to be refused, and then after it.
        """
        self._step("second_writer", moment)

    def end(self) -> None:
        """Removes everything. What there is, and what the last updates made, must be as a create of the same inputs
        makes it."""
        if self._closed:
            return
        try:
            self._trial.end()
            self._drive()
        finally:
            self.close()

    def close(self) -> None:
        """Leaves the world. `end` does that, too."""
        if not self._closed:
            self._closed = True
            self._host.close()

    # What a machine asks before a step.

    def possible(self) -> dict[str, list[str]]:
        """The rules that can be followed just now, each with the names of the resources that it can be about."""
        possible: dict[str, list[str]] = json.loads(self._trial.possible())
        return possible

    def refusal(self, rule: str, *arguments: Any) -> str | None:
        """Why this cannot be the next step; `None` when it can."""
        return self._trial.refusal(self._writing(rule, arguments, 0), self._story)

    def inputs(self) -> dict[str, dict[str, Any]]:
        """What the program says: the resources with their inputs."""
        return dict(self._host.program)

    def program(self) -> str:
        """The steps so far, as a test."""
        return self._trial.story(self._story)

    def _step(self, rule: str, *arguments: Any) -> None:
        refusal = self.refusal(rule, *arguments)
        if refusal is not None:
            raise ValueError(refusal)
        self._host.inputs.extend(dict(it) for it in arguments if isinstance(it, Mapping))
        self._trial.take(self._writing(rule, arguments, len(self._host.inputs) - 1))
        self._drive()

    def _writing(self, rule: str, arguments: tuple[Any, ...], number: int) -> str:
        """A step as the engine's side reads it; `number` is that of its inputs."""
        given = [
            {"number": max(number, 0), "plain": plain(it), "text": self._shown(it)} if isinstance(it, Mapping) else it
            for it in arguments
        ]
        return json.dumps([rule, *given])

    def _shown(self, inputs: Mapping[str, Any]) -> str:
        """Inputs as a program has them, without what is secret."""
        if not self._settings.secret:
            return repr(dict(inputs))
        return repr(json.loads(self._trial.hide_inputs(json.dumps(plain(inputs)))))

    def _drive(self) -> None:
        """Does one thing after the other, up to the end of the step."""
        answer: Any = None
        while True:
            request = json.loads(self._trial.next(json.dumps(answer)))
            if request["do"] == "end":
                break
            answer = self._host.answer(request)
        if request["outcome"] == "broken":
            test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
            again = f"pytest '{test}'" if test else ""
            told = self._trial.broken_text(json.dumps(request["words"]), self._story, again)
            cause = self._host.failure if request["caused"] else None
            raise LifecycleBroken(told) from error_without_secrets(cause, self._trial.hide)

    def _written(self) -> dict[str, Any]:
        """How the steps are written as a test."""
        settings = self._settings
        named = [settings.provider, settings.world, settings.config]
        imports = [
            (it.__module__, it.__name__)
            for it in named
            if getattr(it, "__name__", "<").isidentifier() and it.__module__ != "builtins"
        ]
        if isinstance(settings.provider, Plugin):
            imports.insert(0, ("maloko.testing", "Plugin"))
        arguments = [_called(settings.provider)]
        for name, value in (("world", settings.world), ("config", settings.config)):
            if value is not None:
                arguments.append(f"{name}={_called(value)}")
        for name, names in (
            ("volatile", sorted(settings.volatile)),
            ("unique", self._unique),
            ("secret", sorted(settings.secret or ())),
        ):
            if names:
                arguments.append(f"{name}={names!r}")
        return {"language": "python", "imports": imports, "arguments": arguments}


def _names_of(what: str, names: Collection[str]) -> frozenset[str]:
    if isinstance(names, str):
        raise MalokoError(f"`{what}` is a text; write a set of names: {{{names!r}}}")
    return frozenset(names)


def _called(value: Any) -> str:
    """A value in a program: a class or function by its name (`...` for one without), data as it is."""
    if not callable(value):
        return repr(value)
    name = str(getattr(value, "__name__", ""))
    return name if name.isidentifier() else "..."
