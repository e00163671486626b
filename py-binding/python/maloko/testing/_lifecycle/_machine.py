"""`lifecycle_machine`: Hypothesis draws lifecycles of a provider, and shrinks the ones that break."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from maloko._errors import MalokoError
from maloko.testing._judgement import ask
from maloko.testing._laws._plugin import Plugin
from maloko.testing._laws._words import plain
from maloko.testing._lifecycle._edits import edited, nearest
from maloko.testing._lifecycle._life import Lifecycle

if TYPE_CHECKING:
    from hypothesis.stateful import RuleBasedStateMachine


SHRINKS = 120
"""So many lifecycles are tried at most to find smaller ones that break, too."""


class HiddenInputs(dict[str, Any]):
    """Inputs that Hypothesis does not print: some of them are secret, and the kit tells the steps without these."""

    def __repr__(self) -> str:
        return f"{{{', '.join(sorted(self))}}}"


class MachineView(NamedTuple):
    """What there is after some steps."""

    possible: dict[str, list[str]]
    """The rules that can be followed, each with the names of the resources that it can be about."""
    program: dict[str, dict[str, Any]]
    """The resources of the program, with their inputs."""


def lifecycle_machine(
    provider: Any,
    *,
    inputs: Any,
    world: Any = None,
    config: Any = None,
    volatile: Collection[str] = (),
    unique: Collection[str] = (),
    without: Mapping[str, str] | None = None,
    secret: Collection[str] = (),
) -> type[RuleBasedStateMachine]:
    """A Hypothesis machine whose rules are edit, remove, up, preview, refresh, destroy, import, drift, vanish, crash, a
    lost answer, restart and a second writer, on up to three resources. `TestLife = lifecycle_machine(...).TestCase`
    makes a test of it.

    :param provider: the provider's class, or a function that makes an object; called with the world if it wants it.
        Or a `Plugin`.
    :param inputs: a Hypothesis strategy that makes dicts, or a list of dicts.
    :param world: as for `ProviderLaws`.
    :param config: as for `ProviderLaws`.
    :param volatile: outputs that change by themselves.
    :param unique: inputs of which no two resources have the same value at a time, such as a name.
    :param without: rules that are left out, each with the reason: `{"crash": "the API has no idempotency key"}`.
    :param secret: inputs that are secret, by name or path: what goes wrong is told without their values.

    Raises `MalokoError` without Hypothesis.
    """
    try:
        import hypothesis
        from hypothesis import strategies as st
        from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
    except ImportError as error:
        raise MalokoError(
            "lifecycle_machine draws its steps with Hypothesis, which is not installed: pip install hypothesis"
        ) from error
    left_out = dict(without or {})
    drawn_from = ask("lifecycles", without=plain(left_out))
    if drawn_from["mistake"] is not None:
        raise MalokoError(drawn_from["mistake"])

    def may(name: str) -> Callable[[Any], Any]:
        """Only where the rule is not left out. Steps that cannot be done just then do nothing: a rule that comes and
        goes with what there is would keep Hypothesis from taking away the steps before it."""
        return precondition(lambda _self: name not in left_out or name == "edit")

    examples = None if isinstance(inputs, st.SearchStrategy) else list(inputs)
    drawn = inputs if examples is None else st.sampled_from(examples)
    if secret:
        drawn = drawn.map(HiddenInputs)
    extents = [extent for extent, weight in drawn_from["extents"] for _ in range(weight)]
    an_edit = st.fixed_dictionaries(
        {"drawn": drawn, "extent": st.sampled_from(extents), "pick": st.integers(0, drawn_from["mostPicks"])}
    )
    some_edits = st.lists(an_edit, max_size=drawn_from["mostEdits"])
    names = st.sampled_from(drawn_from["resources"])
    picks = st.integers(0, len(drawn_from["resources"]) - 1)

    known: dict[tuple[str, ...], MachineView | BaseException] = {}
    shrinks: Iterator[int] | None = None

    class Machine(RuleBasedStateMachine):
        """Once a failure was shrunk for long enough, only the steps that are known are gone through again: an engine's
        run costs milliseconds, and Hypothesis wants to see the smallest failure once more."""

        life: Lifecycle | None = None

        def __init__(self) -> None:
            super().__init__()
            self.trace: tuple[str, ...] = ()
            self.known = MachineView({}, {})
            self.failed = False

        @initialize(first=drawn, at=st.sampled_from(("nothing", "edit", "up", "up", "up")), edits=some_edits)
        def begin(self, first: dict[str, Any], at: str, edits: list[dict[str, Any]]) -> None:
            self.trace = ("begin",)
            if shrinks is None or next(shrinks) <= SHRINKS:
                self.life = Lifecycle(
                    provider,
                    world=world,
                    config=config,
                    volatile=volatile,
                    unique=unique,
                    without=left_out,
                    secret=secret,
                )
                known[self.trace] = MachineView(self.life.possible(), self.life.inputs())
            self.look()
            if at != "nothing":
                self.step("edit", drawn_from["resources"][0], first)
            if at == "up" and "up" not in left_out:
                self.step("up")
                self.deploy_each(drawn_from["resources"][0], edits)

        def look(self) -> None:
            found = known.get(self.trace)
            if isinstance(found, MachineView):
                self.known = found

        def step(self, rule: str, *arguments: Any) -> None:
            """Does a step where it can be done."""
            trace = (*self.trace, f"{rule}{arguments!r}")
            if self.life is None:
                if trace in known:
                    self.trace = trace
                    self.reached(known[trace])
            elif self.life.refusal(rule, *arguments) is None:
                self.trace = trace
                self.reached(self.done(lambda life: life._step(rule, *arguments)))

        def done(self, act: Callable[[Lifecycle], None]) -> MachineView | BaseException:
            assert self.life is not None
            found: MachineView | BaseException
            try:
                act(self.life)
                found = MachineView(self.life.possible(), self.life.inputs())
            except Exception as error:
                found = error
                nonlocal shrinks
                shrinks = shrinks or itertools.count(1)
            known[self.trace] = found
            return found

        def reached(self, found: MachineView | BaseException) -> None:
            if isinstance(found, BaseException):
                self.failed = True
                raise found.with_traceback(None) from found.__cause__
            self.known = found

        def step_of(self, rule: str, pick: int, *arguments: Any) -> None:
            """Does a step to one of the resources that there are for it."""
            able = self.known.possible.get(rule, [])
            if able:
                self.step(rule, able[pick % len(able)], *arguments)

        def change(self, name: str, drawn: dict[str, Any], extent: str, pick: int) -> None:
            now = self.known.program.get(name)
            if now is None:
                then = drawn
            elif examples is None:
                then = edited(now, drawn, extent, pick, unique)
            else:
                then = nearest(now, examples, drawn, extent, pick, unique)
            self.step("edit", name, then)

        def deploy_each(self, name: str, edits: list[dict[str, Any]]) -> None:
            for it in edits:
                self.change(name, **it)
                self.step("up")

        # Hypothesis makes simple what it shrinks, and takes the first of the rules for the simplest: this one.
        @rule()
        def all_quiet(self) -> None:
            """Nothing happens."""

        @may("up")
        @rule()
        def up(self) -> None:
            self.step("up")

        @may("edit")
        @rule(name=names, edit=an_edit)
        def edit(self, name: str, edit: dict[str, Any]) -> None:
            self.change(name, **edit)

        # What most of a resource's life is made of: as two rules among many, an edit and an up would rarely meet.
        @may("edit")
        @rule(name=names, edits=some_edits)
        def edit_and_up(self, name: str, edits: list[dict[str, Any]]) -> None:
            self.deploy_each(name, edits)

        @may("remove")
        @rule(pick=picks)
        def remove(self, pick: int) -> None:
            self.step_of("remove", pick)

        @may("preview")
        @rule()
        def preview(self) -> None:
            self.step("preview")

        @may("refresh")
        @rule()
        def refresh(self) -> None:
            self.step("refresh")

        @may("destroy")
        @rule()
        def destroy(self) -> None:
            self.step("destroy")

        @may("import")
        @rule(pick=picks)
        def import_(self, pick: int) -> None:
            self.step_of("import", pick)

        @may("import")
        @rule(pick=picks, first=drawn)
        def import_made(self, pick: int, first: dict[str, Any]) -> None:
            self.step_of("import", pick, first)

        @may("drift")
        @rule(pick=picks)
        def drift(self, pick: int) -> None:
            self.step_of("drift", pick)

        @may("vanish")
        @rule(pick=picks)
        def vanish(self, pick: int) -> None:
            self.step_of("vanish", pick)

        @may("crash")
        @rule(nth=st.integers(1, drawn_from["mostPoints"]), kind=st.sampled_from(drawn_from["crashes"]))
        def crash(self, nth: int, kind: str) -> None:
            self.step("crash", nth, kind)

        @may("lose_answer")
        @rule()
        def lose_answer(self) -> None:
            self.step("lose_answer")

        @may("restart")
        @rule()
        def restart(self) -> None:
            self.step("restart")

        @may("second_writer")
        @rule(moment=st.sampled_from(drawn_from["moments"]))
        def second_writer(self, moment: str) -> None:
            self.step("second_writer", moment)

        def teardown(self) -> None:
            if self.failed:
                if self.life is not None:
                    self.life.close()
            elif self.trace:
                self.trace = (*self.trace, "end")
                if self.life is not None:
                    self.reached(self.done(Lifecycle.end))
                elif self.trace in known:
                    self.reached(known[self.trace])

    is_plugin = isinstance(provider, Plugin)
    name = provider.type.rsplit(":", 1)[-1] if is_plugin else getattr(provider, "__name__", type(provider).__name__)
    Machine.__name__ = Machine.__qualname__ = f"{name}Lifecycle"
    # The same lifecycles in every run: a failure comes again by running the test again.
    Machine.TestCase.settings = hypothesis.settings(
        max_examples=100,
        stateful_step_count=8,
        deadline=None,
        derandomize=True,
        database=None,
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=list(hypothesis.HealthCheck),
        phases=(hypothesis.Phase.generate, hypothesis.Phase.shrink),
    )
    return Machine
