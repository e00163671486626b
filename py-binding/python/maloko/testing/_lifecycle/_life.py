"""The life of one resource, step by step, with what must hold after every step."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Mapping
from typing import Any

from maloko.testing._laws._settings import Settings
from maloko.testing._laws._trial import NAME, Inputs, Made, Trial, first_difference, import_of, made_of, set_inputs
from maloko.testing._laws._worlds import picture_of
from maloko.testing._operations._runs import Run
from maloko.testing._operations._stack import Stack

CRASHES = ("kill", "raise_before", "raise_after", "enospc", "lose_lock")
"""How an `up` of a lifecycle may be cut off; `maloko.testing.crash_everywhere` says what they are."""


class LifecycleBroken(AssertionError):  # noqa: N818 it is what has become of the lifecycle
    """Something that must hold after every step of a lifecycle does not; the message has a program that shows it."""

    __module__ = "maloko.testing"


class Lifecycle:
    """The life of one resource: each method is a step, and checks afterwards that the state is what it must be, that
    nothing is there twice or left over, and that an `up` settles.

    A failure prints a program of these steps.
    """

    def __init__(
        self,
        provider: Any,
        *,
        inputs: Mapping[str, Any],
        world: Any = None,
        config: Any = None,
        volatile: Collection[str] = (),
    ) -> None:
        """
        :param provider: the provider's class, or a function that makes an object; called with the world if it wants it.
        :param inputs: what the program says at first.
        :param world: as for `ProviderLaws`.
        :param config: as for `ProviderLaws`.
        :param volatile: outputs that change by themselves.
        """
        self._settings = Settings(
            name=getattr(provider, "__qualname__", repr(provider)),
            provider=provider,
            inputs=[dict(inputs)],
            world=world,
            config=config,
            volatile=frozenset(volatile),
        )
        self._steps: list[str] = []
        self._place = self._settings.new_place()
        self._trial = Trial(self._settings, self._place)
        self._first = dict(inputs)
        self._inputs = dict(inputs)
        self._stack: Stack = self._trial.stack(inputs)
        self._exists = False
        self._gone_outside = False
        self._changed_outside = False
        self._uncertain = False
        self._settled = False
        self._updated: tuple[dict[str, Any], Made] | None = None
        self._closed = False
        self._others: list[Stack] = []

    # What a machine may ask before a step.

    @property
    def exists(self) -> bool:
        """Is the resource in the state, and its object in the world, as far as a user can know?"""
        return self._exists and not self._gone_outside and not self._uncertain

    def can(self, method: str) -> bool:
        """Has the provider this method, or its world?"""
        return self._trial.has(method) or callable(getattr(self._trial.world, method, None))

    # Steps.

    def edit(self, inputs: Mapping[str, Any]) -> None:
        """Changes the program."""
        self._steps.append(f"life.edit({dict(inputs)!r})")
        self._inputs = dict(inputs)
        self._settled = False
        set_inputs(self._stack, inputs)

    def up(self) -> None:
        """Deploys, and plans again: that plan must be empty."""
        self._steps.append("life.up()")
        run = self._stack.run("up")
        self._deployed(run)

    def preview(self) -> None:
        """Plans; nothing may change."""
        self._steps.append("life.preview()")
        before = (self._rows(), self._world())
        run = self._stack.run("preview")
        if run.outcome != "succeeded" and not self._refused(run):
            self._fail("a preview fails", run)
        if before != (self._rows(), self._world()):
            self._fail("a preview has changed something")

    def refresh(self) -> None:
        """Makes the state as the world is."""
        self._steps.append("life.refresh()")
        run = self._stack.run("refresh")
        if run.outcome != "succeeded":
            self._fail("a refresh fails", run)
        if self._gone_outside and self._trial.has("read"):
            self._exists = self._gone_outside = False
        self._settled = False
        self._holds()

    def destroy(self) -> None:
        """Removes everything; nothing may be left."""
        self._steps.append("life.destroy()")
        self._destroyed()

    def import_(self) -> None:
        """Forgets the resource, and takes its object over by its id, as somebody else's stack would."""
        self._steps.append("life.import_()")
        imported = import_of(self._stack, NAME)
        run = self._stack.run("import", imports=[imported])
        if run.outcome != "succeeded":
            self._fail(f"the object {imported['id']!r} cannot be imported by its id", run)
        self._settled = False
        self._holds()

    def drift(self) -> None:
        """Changes the object behind the provider's back."""
        self._steps.append("life.drift()")
        self._trial.world.mutate_remote(self._stack.id(NAME))
        self._changed_outside = True
        self._settled = False

    def vanish(self) -> None:
        """Removes the object behind the provider's back."""
        self._steps.append("life.vanish()")
        self._trial.world.delete_remote(self._stack.id(NAME))
        self._gone_outside = True
        self._settled = False

    def crash(self, nth: int, kind: str) -> None:
        """Begins an `up` that is cut off at the nth of its points; the next `up` must mend everything.

        :param nth: which write to the journal, or way to or from a provider, from 1. With fewer points it is an `up`.
        :param kind: one of `kill`, `raise_before`, `raise_after`, `enospc`, `lose_lock`.
        """
        self._steps.append(f"life.crash({nth}, {kind!r})")
        if kind not in CRASHES:
            raise ValueError(f"'{kind}' is no way to crash here; those are {', '.join(CRASHES)}")
        passed = [point["number"] for run in self._runs() for point in run.points]
        point = {"point": max(passed, default=0) + nth, "kind": kind}
        try:
            run = self._stack._once("up", {"refresh": self._blind}, point)
        except RuntimeError:  # so early that the state could not even be opened
            run = None
        if run is not None and run.struck is None:
            self._deployed(run)
        else:
            self._uncertain = True
            self._settled = False

    def lose_answer(self) -> None:
        """Begins an `up` in which the provider does what it is asked to, and its answer is lost; the next `up` must
        mend that."""
        self._steps.append("life.lose_answer()")
        lost = ConnectionError("the answer was lost")
        with contextlib.ExitStack() as faults:
            for method in ("create", "update", "delete"):
                faults.enter_context(self._stack.fault(NAME, method, raises=lost, after=True))
            run = self._stack.run("up", refresh=self._blind)
        if any(call.faulted for call in run.calls):
            self._uncertain = True
            self._settled = False
        else:
            self._deployed(run)

    def restart(self) -> None:
        """Ends the process, and begins another one: a new provider object over the same state."""
        self._steps.append("life.restart()")
        self._trial.begin()
        self._settled = False

    def second_writer(self) -> None:
        """Somebody else deploys the same program on the same stack, with a provider object of their own; and tries it
        while this one deploys, too."""
        self._steps.append("life.second_writer()")
        other = self._other()
        self._others.append(other)
        refused: list[str] = []

        def meanwhile(method: str) -> None:
            if method in ("create", "update", "delete"):
                self._trial.recorder.entering = None
                refused.append(_outcome_of(other))

        self._trial.recorder.entering = meanwhile
        run = self._stack.run("up", refresh=self._blind)
        self._trial.recorder.entering = None
        if "succeeded" in refused:
            self._fail("two writers deployed on one stack at once")
        if self._refused(run):
            return
        # The other's up is a plan as well: one that does not settle shows in it, and in the plan after it.
        self._arrived(run)
        self._deployed(other.run("up"))

    def end(self) -> None:
        """Compares what there is, and what the last update made, with what a create of the same inputs makes; and
        removes everything."""
        if self._closed:
            return
        self._steps.append("life.end()")
        try:
            ends = [] if self._updated is None else [self._updated]
            if self._settled and self._exists:
                ends.append((self._inputs, made_of(self._stack)))
            if self._rows() or self._stack.unresolved_creates():
                if not self._uncertain:
                    self._destroyed()
            else:
                self._holds()
            if self._place.resets:
                for at, end in enumerate(ends):
                    if end not in ends[:at]:
                        self._as_created(*end)
        finally:
            self.close()

    def close(self) -> None:
        """Leaves the world. `end` does that, too."""
        if not self._closed:
            self._closed = True
            self._trial.close()
            self._place.end()

    def program(self) -> str:
        """The steps so far, as a test."""
        settings = self._settings
        names = [settings.provider, settings.world, settings.config]
        given = [f"inputs={self._first!r}"]
        for name, value in (("world", settings.world), ("config", settings.config)):
            if value is not None:
                given.append(f"{name}={_called(value)}")
        if settings.volatile:
            given.append(f"volatile={sorted(settings.volatile)!r}")
        imports = [
            f"    from {it.__module__} import {it.__name__}"
            for it in names
            if getattr(it, "__name__", "<").isidentifier() and it.__module__ != "builtins"
        ]
        lines = [
            "def test_again():",
            "    from maloko.testing import Lifecycle",
            *imports,
            f"    life = Lifecycle({_called(settings.provider)}, {', '.join(given)})",
            *(f"    {step}" for step in self._steps),
        ]
        return "\n".join(lines)

    # What must hold.

    @property
    def _blind(self) -> bool:
        """Must an up look first, because something happened outside?"""
        return self._gone_outside or self._changed_outside

    def _deployed(self, run: Run) -> None:
        if self._refused(run):
            return
        self._arrived(run)
        # Where the last plan was empty and the up has done nothing, nothing is left to be planned.
        if not self._settled or run.plan.changed:
            self._settles()
        if any(entry.action == "update" for entry in run.plan.changed.values()):
            # A later step may hide it: a destroy, a refresh.
            self._updated = (self._inputs, made_of(self._stack))

    def _arrived(self, run: Run) -> None:
        """After an up: what it must have come to."""
        # What is gone cannot be updated by who has not looked; the up after a refresh must mend that.
        if run.outcome != "succeeded" and not (self._gone_outside and self._trial.has("read")):
            self._fail("an up fails", run)
        self._exists, self._uncertain = True, False
        if self._blind:
            # What happened outside is found by a refresh only; an up without one may well leave it.
            self._look_and_mend()
            self._settled = False
        self._holds()

    def _look_and_mend(self) -> None:
        if self._trial.has("read"):
            run = self._stack.run("up", refresh=True)
            if run.outcome != "succeeded":
                self._fail("an up after a refresh fails", run)
        self._gone_outside = self._changed_outside = False

    def _refused(self, run: Run) -> bool:
        """Does check refuse the inputs? Then nothing was to change."""
        refused = any(call.method == "check" and (call.result or {}).get("failures") for call in run.calls)
        return run.outcome == "failed" and refused

    def _settles(self) -> None:
        run = self._stack.run("preview", refresh=self._trial.has("read"))
        if run.outcome != "succeeded":
            self._fail("a preview after an up fails", run)
        for entry in run.plan.changed.values():
            paths = [
                f"{path}: {change!r}" for path, change in entry.changes.items() if path not in self._settings.volatile
            ]
            if paths or not entry.changes:
                told = "; ".join(paths) or "no property says why"
                self._fail(f"an up does not settle: the next one would {entry.action} ({told})")
        self._settled = True

    def _destroyed(self) -> None:
        run = self._stack.run("destroy")
        if run.outcome != "succeeded":
            self._fail("a destroy fails", run)
        self._exists = self._gone_outside = self._changed_outside = self._uncertain = self._settled = False
        self._holds()

    def _holds(self) -> None:
        """The state is as the steps say, and the world as the state says."""
        rows = self._rows()
        if self._uncertain:  # an up was cut off; the next one makes it certain
            return
        if self._exists != (NAME in rows):
            there = "is in the state" if NAME in rows else "is not in the state"
            self._fail(f"the resource {there}, and must {'' if self._exists else 'not '}be")
        ids = self._trial.ids()
        if ids is None or self._gone_outside:
            return
        wanted = [rows[NAME]["id"]] if self._exists else []
        if ids != wanted:
            more = [id_ for id_ in ids if id_ not in wanted]
            # What a create left whose answer was lost, and that the program no longer wants, is an unresolved create.
            if all(id_ in ids for id_ in wanted) and len(more) <= len(self._stack.unresolved_creates()):
                return
            what = f"left over or there twice: {more}" if more else f"missing: {wanted}"
            self._fail(f"the world has {ids}, and the state {wanted}; {what}")

    def _as_created(self, inputs: Inputs, made: Made) -> None:
        self._trial.renew()
        fresh = made_of(self._trial.made(inputs))
        it = first_difference(fresh, made, self._settings.volatile)
        if it is not None:
            expected, found = (repr(it[key]) if key in it else "nothing" for key in ("expected", "found"))
            self._fail(f"'{it['path']}' ends as {found}, and a create of the same inputs makes {expected}")

    def _runs(self) -> list[Run]:
        return [run for stack in (self._stack, *self._others) for run in stack.runs]

    def _rows(self) -> dict[str, dict[str, Any]]:
        return self._stack.resources()

    def _world(self) -> Any:
        return None if self._trial.world is None else picture_of(self._trial.world)

    def _other(self) -> Stack:
        provider = self._settings.make_provider(self._trial.world)
        own, self._trial.provider = self._trial.provider, provider
        other = self._trial.stack(self._inputs)
        self._trial.provider = own
        other.state = self._stack.state
        return other

    def _fail(self, what: str, run: Run | None = None) -> None:
        failure = run.failure() if run is not None else None
        told = f"{what}: {type(failure).__name__}: {failure}" if failure is not None else what
        test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
        again = f"again: pytest '{test}'\n" if test else ""
        raise LifecycleBroken(
            f"a lifecycle of {self._settings.name} is broken: {told}\n"
            f"the steps that show it, as a test:\n\n{self.program()}\n\n{again}"
        ) from failure


def _called(value: Any) -> str:
    """A value in a program: a class or function by its name (`...` for one without), data as it is."""
    if not callable(value):
        return repr(value)
    name = str(getattr(value, "__name__", ""))
    return name if name.isidentifier() else "..."


def _outcome_of(stack: Stack) -> str:
    try:
        return stack.run("up").outcome
    except Exception as error:  # a state that is locked cannot even be opened
        return str(error)
