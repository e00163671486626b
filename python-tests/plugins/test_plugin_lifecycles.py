"""Lifecycles of a plugin's resources: a good plugin goes through all steps, and a bug that shows in a life is found."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from law_breaking_world import THING, World, plugin_in
from night import LONG, rounds

from maloko.testing import Lifecycle, LifecycleBroken, Plugin, lifecycle_machine

ONE = {"size": 1, "text": "alpha"}
INPUTS = [ONE, {"size": 1, "text": "beta"}, {"size": 2, "text": "beta"}]
LIFE: list[tuple[Any, ...]] = [
    ("edit", "a", ONE),
    ("up",),
    ("edit", "a", {**ONE, "text": "beta"}),
    ("second_writer", "during"),
    ("edit", "a", {**ONE, "size": 2}),
    ("preview",),
    ("up",),
    ("import", "a"),
    ("edit", "b", ONE),
    ("lose_answer",),
    ("up",),
    ("edit", "b", {**ONE, "text": "beta"}),
    ("crash", 4, "kill"),
    ("restart",),
    ("up",),
    ("drift", "a"),
    ("vanish", "b"),
    ("up",),
    ("import", "c", ONE),
    ("refresh",),
    ("remove", "b"),
    ("second_writer", "before"),
    ("destroy",),
    ("up",),
]
"""Each rule at least once."""
UPDATED: list[tuple[Any, ...]] = [("edit", "a", ONE), ("up",), ("edit", "a", {**ONE, "text": "beta"}), ("up",)]
REPLACED: list[tuple[Any, ...]] = [("edit", "a", ONE), ("up",), ("edit", "a", {**ONE, "size": 2}), ("up",)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The world of a plugin that the tests of this file share, and its executable beside it."""
    made = tmp_path_factory.mktemp("lives")
    with plugin_in(made):
        yield made


@pytest.fixture(scope="module")
def plugin(folder: Path) -> Iterator[Plugin]:
    made = Plugin(THING, path=folder)
    yield made
    made.close()


@pytest.fixture(autouse=True)
def unbroken(folder: Path) -> Iterator[None]:
    """Each test begins with a plugin that is right and with nothing in its world."""
    yield
    folder.joinpath("world", ".breaks").unlink(missing_ok=True)
    World(folder / "world").reset()


def lived(life: Lifecycle, steps: list[tuple[Any, ...]]) -> None:
    """Takes a plugin through the steps, up to the end."""
    try:
        for rule, *arguments in steps:
            life._step(rule, *arguments)
        life.end()
    finally:
        life.close()


def test_a_plugin_that_is_right_goes_through_all_steps(plugin: Plugin, folder: Path) -> None:
    lived(Lifecycle(plugin, world=World(folder / "world")), LIFE)
    assert not World(folder / "world").objects()


@pytest.mark.parametrize(
    ("bug", "steps", "told"),
    [
        ("L5", UPDATED, "property: origin of a"),
        ("L7", REPLACED, "expected: no object that the stack does not know"),
        ("L6", REPLACED, "expected: the object"),
    ],
)
def test_a_life_shows_the_bug_of_a_plugin(
    plugin: Plugin, folder: Path, bug: str, steps: list[tuple[Any, ...]], told: str
) -> None:
    folder.joinpath("world", ".breaks").write_text(bug)
    with pytest.raises(LifecycleBroken) as broken:
        lived(Lifecycle(plugin, world=World(folder / "world")), steps)
    assert f"lifecycle of {THING}: it goes wrong in 4 steps" in str(broken.value)
    assert told in str(broken.value)
    assert f"life = Lifecycle(Plugin('{THING}', path='{folder}'), world=" in str(broken.value)


def test_lives_of_a_plugin_are_drawn(plugin: Plugin, folder: Path) -> None:
    machine = lifecycle_machine(plugin, inputs=INPUTS, world=World(folder / "world"))
    assert machine.__name__ == "ThingLifecycle"
    few = settings(machine.TestCase.settings, max_examples=rounds(2, 5), stateful_step_count=4)
    run_state_machine_as_test(machine, settings=few)
    folder.joinpath("world", ".breaks").write_text("L5")
    without = dict.fromkeys(("crash", "lose_answer", "restart", "second_writer"), "another test has it")
    machine = lifecycle_machine(plugin, inputs=INPUTS, world=World(folder / "world"), without=without)
    # What is found is made short at night.
    more = settings(few, max_examples=20, phases=few.phases if LONG else (Phase.generate,))
    with pytest.raises(LifecycleBroken, match="origin of"):
        run_state_machine_as_test(machine, settings=more)


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_what_leaves_objects_over_needs_a_world_that_can_remove_them(plugin: Plugin, folder: Path) -> None:
    class Seen:
        def objects(self) -> dict[str, Any]:
            return World(folder / "world").objects()

    for world, told in ((None, "there is no world"), (Seen(), "there is no world with `delete_remote`")):
        life = Lifecycle(plugin, world=world)
        try:
            for step in (("crash", 1, "kill"), ("lose_answer",)):
                refusal = life.refusal(*step) or ""
                assert refusal.startswith(f"the step life.{step[0]}(")
                assert refusal.endswith(
                    f" cannot be done here: {told}, to remove what a create makes whose answer is lost"
                )
        finally:
            life.close()


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_plugin_that_refuses_inputs_is_asked_no_more(plugin: Plugin, folder: Path) -> None:
    life = Lifecycle(plugin, world=World(folder / "world"))
    lived(life, [("edit", "a", {"size": -1}), ("up",), ("edit", "a", ONE), ("up",)])
    assert life.inputs() == {"a": ONE}
