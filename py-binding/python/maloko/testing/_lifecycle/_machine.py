"""`lifecycle_machine`: Hypothesis draws lifecycles of a provider, and shrinks the ones that break."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from maloko._errors import MalokoError
from maloko.testing._lifecycle._edits import EXTENTS, MOST_PICKS, edited, nearest
from maloko.testing._lifecycle._life import CRASHES, Lifecycle

if TYPE_CHECKING:
    from hypothesis.stateful import RuleBasedStateMachine


RULES = (
    "up",
    "edit",
    "preview",
    "refresh",
    "destroy",
    "import_",
    "drift",
    "vanish",
    "crash",
    "lose_answer",
    "restart",
    "second_writer",
)
"""The rules of the machine."""

EDITS = 3
"""So many edits come in a row at most, each with an `up`."""

SHRINKS = 60
"""So many lifecycles are tried at most to find smaller ones that break, too."""


def lifecycle_machine(
    provider: Any,
    *,
    inputs: Any,
    world: Any = None,
    config: Any = None,
    volatile: Collection[str] = (),
    without: Mapping[str, str] | None = None,
) -> type[RuleBasedStateMachine]:
    """A Hypothesis machine whose rules are up, preview, refresh, destroy, import, edit, drift, crash, restart and a
    second writer. `TestLife = lifecycle_machine(...).TestCase` makes a test of it.

    :param provider: the provider's class, or a function that makes an object; called with the world if it wants it.
    :param inputs: a Hypothesis strategy that makes dicts, or a list of dicts.
    :param world: as for `ProviderLaws`.
    :param config: as for `ProviderLaws`.
    :param volatile: outputs that change by themselves.
    :param without: rules that are left out, each with the reason: `{"crash": "the API has no idempotency key"}`.

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
    for name, reason in left_out.items():
        if name not in RULES:
            raise MalokoError(f"without= names {name!r}, which is no rule; those are {', '.join(RULES)}")
        if not isinstance(reason, str) or not reason.strip():
            raise MalokoError(f"without= gives no reason for {name!r}; write one")

    def may(name: str, *needs: str, exists: bool = False) -> Callable[[Any], Any]:
        """Only where the step makes sense."""
        return precondition(
            lambda self: name not in left_out and (self.exists or not exists) and all(able[it] for it in needs)
        )

    examples = None if isinstance(inputs, st.SearchStrategy) else list(inputs)
    drawn = inputs if examples is None else st.sampled_from(examples)
    an_edit = st.fixed_dictionaries(
        {"drawn": drawn, "extent": st.sampled_from(EXTENTS), "pick": st.integers(0, MOST_PICKS)}
    )
    some_edits = st.lists(an_edit, max_size=EDITS)

    able = {"deploys": "up" not in left_out}
    known: dict[tuple[str, ...], bool | BaseException] = {}
    shrinks: Iterator[int] | None = None

    class Machine(RuleBasedStateMachine):
        """Once a failure was shrunk for long enough, only the steps that are known are gone through again: an engine's
        run costs milliseconds, and Hypothesis wants to see the smallest failure once more."""

        life: Lifecycle | None = None

        def __init__(self) -> None:
            super().__init__()
            self.trace: tuple[str, ...] = ()
            self.inputs: dict[str, Any] = {}
            self.failed = False

        @initialize(first=drawn, deployed=st.sampled_from((False, True, True, True)), edits=some_edits)
        def begin(self, first: dict[str, Any], deployed: bool, edits: list[dict[str, Any]]) -> None:
            self.trace = (repr(first),)
            self.inputs = first
            if shrinks is None or next(shrinks) <= SHRINKS:
                self.life = Lifecycle(provider, inputs=first, world=world, config=config, volatile=volatile)
                able.update({name: self.life.can(name) for name in ("read", "mutate_remote", "delete_remote")})
            if deployed and able["deploys"]:
                self.step("up")
                self.deploy_each(edits if "edit" not in left_out else [])

        @property
        def exists(self) -> bool:
            return self.life.exists if self.life is not None else known.get(self.trace) is True

        def step(self, name: str, *arguments: Any) -> None:
            self.trace = (*self.trace, f"{name}{arguments!r}")
            if self.life is None:
                found = known.get(self.trace)
                if isinstance(found, BaseException):
                    self.failed = True
                    raise found
                return
            try:
                getattr(self.life, name)(*arguments)
                known[self.trace] = self.life.exists
            except Exception as error:
                self.failed = True
                known[self.trace] = error
                nonlocal shrinks
                shrinks = shrinks or itertools.count(1)
                raise error.with_traceback(None) from error.__cause__

        @may("up")
        @rule()
        def up(self) -> None:
            self.step("up")

        def change(self, drawn: dict[str, Any], extent: str, pick: int) -> None:
            if examples is None:
                self.inputs = edited(self.inputs, drawn, extent, pick)
            else:
                self.inputs = nearest(self.inputs, examples, drawn, extent, pick)
            self.step("edit", self.inputs)

        def deploy_each(self, edits: list[dict[str, Any]]) -> None:
            for it in edits:
                self.change(**it)
                self.step("up")

        @may("edit")
        @rule(edit=an_edit)
        def edit(self, edit: dict[str, Any]) -> None:
            self.change(**edit)

        # What most of a resource's life is made of: as two rules among twelve, an edit and an up would rarely meet.
        @may("edit", "deploys")
        @rule(edits=some_edits)
        def edit_and_up(self, edits: list[dict[str, Any]]) -> None:
            self.deploy_each(edits)

        @may("preview")
        @rule()
        def preview(self) -> None:
            self.step("preview")

        @may("refresh")
        @rule()
        def refresh(self) -> None:
            self.step("refresh")

        @may("destroy", exists=True)
        @rule()
        def destroy(self) -> None:
            self.step("destroy")

        @may("import_", "read", exists=True)
        @rule()
        def import_(self) -> None:
            self.step("import_")

        @may("drift", "read", "mutate_remote", exists=True)
        @rule()
        def drift(self) -> None:
            self.step("drift")

        @may("vanish", "read", "delete_remote", exists=True)
        @rule()
        def vanish(self) -> None:
            self.step("vanish")

        @may("crash")
        @rule(nth=st.integers(1, 8), kind=st.sampled_from(list(CRASHES)))
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
        @rule()
        def second_writer(self) -> None:
            self.step("second_writer")

        def teardown(self) -> None:
            if self.failed:
                if self.life is not None:
                    self.life.close()
            elif self.trace:
                self.step("end")

    name = getattr(provider, "__name__", type(provider).__name__)
    Machine.__name__ = Machine.__qualname__ = f"{name}Lifecycle"
    # The same lifecycles in every run: a failure comes again by running the test again.
    Machine.TestCase.settings = hypothesis.settings(
        max_examples=100,
        stateful_step_count=6,
        deadline=None,
        derandomize=True,
        database=None,
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=list(hypothesis.HealthCheck),
        phases=(hypothesis.Phase.generate, hypothesis.Phase.shrink),
    )
    return Machine
