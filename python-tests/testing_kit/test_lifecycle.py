"""Random lifecycles of a provider on a real engine."""

import json
import os
import re
import traceback
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import Phase, seed, settings
from hypothesis import strategies as st
from law_breakers import EXAMPLES, Cloud, DeletesOnce, Good, MakesTwo, Props
from night import LONG, rounds
from pulumi.dynamic import CreateResult, DiffResult, ReadResult, UpdateResult

from maloko import MalokoError
from maloko.testing import Lifecycle, LifecycleBroken, exported_inputs, lifecycle_machine
from maloko.testing._judgement import ask
from maloko.testing._lifecycle._edits import edited


def machine(provider: Any, examples: int, **options: Any) -> Any:
    case = lifecycle_machine(provider, inputs=EXAMPLES, world=Cloud, **options).TestCase
    case.settings = settings(case.settings, max_examples=examples)
    return case


def broken(provider: Any, without: tuple[str, ...] = (), **setting: Any) -> LifecycleBroken:
    case = machine(provider, 200, without=dict.fromkeys(without, "something else is to show it"))
    case.settings = settings(case.settings, **setting)
    with pytest.raises(LifecycleBroken) as caught:
        case().runTest()
    return caught.value


@cache
def told_of_makes_two() -> tuple[str, str]:
    """How a lifecycle goes wrong, and the test in which it was found. By day it is not made short: Node has that."""
    setting = {} if LONG else {"phases": (Phase.generate,)}
    return str(broken(MakesTwo, **setting)), os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")[0]


def test_a_provider_that_is_right_goes_through_all_its_lifecycles() -> None:
    machine(Good, rounds(10, 60))().runTest()


@pytest.mark.nightly
def test_a_lifecycle_that_goes_wrong_is_made_short_and_told_as_a_test() -> None:
    told, _ = told_of_makes_two()
    assert re.match(r"lifecycle of MakesTwo: it goes wrong in [234] steps\n", told)
    assert re.search(r"\n    expected: no object that the stack does not know\n    found: box-\d beside ", told)
    assert "\n\ndef test_again():\n    from maloko.testing import Lifecycle\n" in told
    assert "    life = Lifecycle(MakesTwo, world=Cloud)\n" in told
    assert f'    life.edit("a", {EXAMPLES[0]!r})\n' in told
    assert "life.crash(" in told or "life.lose_answer()" in told


class Talks(Good):
    """Says the password when it fails."""

    def create(self, props: Props) -> CreateResult:
        raise ValueError(f"no {props['password']}")


def test_a_lifecycle_that_goes_wrong_tells_no_secret() -> None:
    password = "-".join(("open", "sesame"))
    inputs, secret = {**EXAMPLES[0], "password": password}, {"password"}
    life = Lifecycle(Talks, world=Cloud, secret=secret)
    life.edit("a", inputs)
    with pytest.raises(LifecycleBroken) as caught:
        life.up()
    drawn = lifecycle_machine(Talks, inputs=[inputs], world=Cloud, secret=secret).TestCase
    with pytest.raises(LifecycleBroken) as found:
        drawn().runTest()
    for broken in (caught.value, found.value):
        assert "'password': '[secret 1]'" in str(broken)
        assert "no [secret 1]" in str(broken)
        assert password not in "".join(traceback.format_exception(broken))


@pytest.mark.nightly
def test_the_line_of_a_lifecycle_that_went_wrong_runs_it_again() -> None:
    # As it is found, and not made short: that takes as long again.
    first, again = (str(broken(DeletesOnce, phases=(Phase.generate,))) for _ in range(2))
    assert again == first
    # It is copied from a terminal: the test alone, whose lifecycles are the same in every run.
    test = os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")[0]
    assert f"\n    again: pytest '{test}'\n" in first


def places(world: Cloud) -> dict[str, str]:
    return {"place": type(world).__name__}


def test_the_steps_of_a_lifecycle_are_a_test_of_their_own() -> None:
    text, found_in = told_of_makes_two()
    told, program = text.split("\n\n")
    assert f"\n    again: pytest '{found_in}'\n" in told
    space: dict[str, Any] = {}
    exec(program, space)
    with pytest.raises(LifecycleBroken) as caught:
        space["test_again"]()
    assert str(caught.value).partition("    again:")[0] == told.partition("    again:")[0]

    life = Lifecycle(Good, world=Cloud)
    life.edit("a", EXAMPLES[0])
    life.second_writer()
    life.edit("b", EXAMPLES[0])
    life.edit("a", EXAMPLES[1])
    life.crash(5, "kill")
    life.edit("b", EXAMPLES[1])
    life.lose_answer()
    life.preview()
    life.second_writer("before")
    life.drift("a")
    life.up()
    life.import_("a")
    life.import_("c", EXAMPLES[0])
    life.restart()
    life.vanish("b")
    life.refresh()
    life.preview()
    life.remove("c")
    life.end()
    life = Lifecycle(Good, world=Cloud)
    with pytest.raises(ValueError, match="'flood' is no kind of crash: there are kill, raise_before"):
        life.crash(1, "flood")
    with pytest.raises(ValueError, match=r'the step life\.remove\("a"\) cannot be done here: the program has no a'):
        life.remove("a")
    life.close()

    life = Lifecycle(Good, world=Cloud, config=places, unique=["name"])
    program = life.program()
    assert f"    from {__name__} import places\n" in program
    assert program.endswith("world=Cloud, config=places, unique=['name'])")
    life.close()
    nameless = Lifecycle(Good, world=Cloud, config=lambda world: places(world))
    assert nameless.program().endswith("world=Cloud, config=...)")
    nameless.close()


def test_a_rule_is_left_out_for_a_reason() -> None:
    machine(
        MakesTwo, rounds(6, 30), without=dict.fromkeys(("crash", "lose_answer"), "the service has no idempotency keys")
    )().runTest()
    with pytest.raises(MalokoError, match="gives no reason for 'crash'"):
        machine(Good, 1, without={"crash": ""})
    with pytest.raises(MalokoError, match="'fall', which is no rule: there are edit, remove"):
        machine(Good, 1, without={"fall": "why not"})


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_delete_that_fails_when_the_object_is_gone_is_found_by_a_lifecycle() -> None:
    error = broken(DeletesOnce, ("crash", "lose_answer"), phases=(Phase.generate,))
    assert "KeyError: 'there is no box-" in str(error)
    assert "life.vanish(" in str(error)
    assert isinstance(error.__cause__, KeyError)


class Picky(Cloud):
    """No two boxes have the same label."""

    def create(self, props: Props, key: str = "") -> str:
        if any(box["label"] == props["label"] and self.keys.get(key) != id_ for id_, box in self.boxes.items()):
            raise LookupError(f"there is a box {props['label']} already")
        return super().create(props, key)


class Labelled(Good):
    """A box with another label is another box."""

    def diff(self, id_: str, olds: Props, news: Props) -> DiffResult:
        found = super().diff(id_, olds, news)
        replaces = [*(found.replaces or []), *(["label"] if olds.get("label") != news.get("label") else [])]
        return DiffResult(changes=found.changes or bool(replaces), replaces=replaces, delete_before_replace=True)


def test_no_two_resources_have_the_same_value_of_what_is_unique() -> None:
    labels = st.sampled_from(["one", "two", "three", "four", "five"])
    drawn = st.fixed_dictionaries({**{key: st.just(it) for key, it in EXAMPLES[0].items()}, "label": labels})
    case = lifecycle_machine(Labelled, inputs=drawn, world=Picky, unique=["label"]).TestCase
    case.settings = settings(case.settings, max_examples=rounds(6, 30))
    case().runTest()
    life = Lifecycle(Labelled, world=Picky, unique=["label"])
    life.edit("a", EXAMPLES[0])
    with pytest.raises(ValueError, match="cannot be done here: a has the same label"):
        life.edit("b", EXAMPLES[0])
    life.close()


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_the_next_up_mends_what_was_cut_off_whatever_comes_between() -> None:
    for nth, kind in ((2, "raise_after"), (3, "kill"), (4, "hang")):
        life = Lifecycle(Good, world=Cloud)
        life.edit("a", EXAMPLES[0])
        life.crash(nth, kind)
        life.edit("a", EXAMPLES[1])
        life.restart()
        life.preview()
        with pytest.raises(ValueError, match="an `up` was cut off, and has to be done again first"):
            life.vanish("a")
        life.up()
        # What the program no longer wants may be there once, and the stack says that it does not know.
        life.edit("b", EXAMPLES[0])
        life.lose_answer()
        life.remove("b")
        life.end()
    twice = Lifecycle(MakesTwo, world=Cloud)
    twice.edit("a", EXAMPLES[0])
    twice.lose_answer()
    with pytest.raises(LifecycleBroken, match="property: up\n    expected: no object that the stack does not know"):
        twice.up()
    twice.close()


BOXES = st.fixed_dictionaries(
    {
        "name": st.text("abc", min_size=3, max_size=8),
        "colour": st.sampled_from(["red", "blue", "Blue"]),
        "size": st.integers(1, 1000),
        "password": st.text("abc", min_size=8, max_size=12),
    }
)


class Named(Good):
    """A box of another name is another box."""

    def diff(self, _id: str, olds: Props, news: Props) -> DiffResult:
        changed = [name for name in ("name", "colour", "size", "password") if olds.get(name) != news.get(name)]
        return DiffResult(changes=bool(changed), replaces=[name for name in changed if name == "name"])


class KeepsSize(Named):
    """An update leaves one field as it was, and says what the service has then."""

    def update(self, id_: str, olds: Props, news: Props) -> UpdateResult:
        return super().update(id_, olds, {**news, "size": self.cloud.boxes[id_]["size"]})


class ClaimsSize(KeepsSize):
    """The same, and it says what it was asked for."""

    def update(self, id_: str, olds: Props, news: Props) -> UpdateResult:
        return UpdateResult({**super().update(id_, olds, news).outs, "size": news["size"]})


class ForgetsTheOwner(Named):
    """An update forgets a field that the inputs do not have."""

    def create(self, props: Props) -> CreateResult:
        return super().create({**props, "owner": "me"})

    def read(self, id_: str, props: Props) -> ReadResult:
        found = super().read(id_, props)
        inputs = {key: it for key, it in (found.inputs or {}).items() if key != "owner"}
        return ReadResult(found.id, found.outs, inputs) if found.id else found

    def outs(self, id_: str, props: Props) -> Props:
        return {**props, "place": f"shelf/{id_}"}


def finds(provider: Any, number: int, examples: int) -> bool:
    drawn = seed(number)(lifecycle_machine(provider, inputs=BOXES, world=Cloud))
    case = drawn.TestCase
    case.settings = settings(case.settings, max_examples=examples, derandomize=False, phases=(Phase.generate,))
    try:
        case().runTest()
    except LifecycleBroken:
        return True
    return False


@pytest.mark.nightly
def test_an_update_that_forgets_one_field_is_found_within_thirty_examples_over_twenty_seeds() -> None:
    for provider in (KeepsSize, ClaimsSize, ForgetsTheOwner):
        missed = [number for number in range(1, 21) if not finds(provider, number, 30)]
        assert not missed, f"{provider.__name__}: the seeds that do not find it"


def test_an_edit_keeps_names_and_mostly_changes_one_property() -> None:
    draw = Random(20)

    def box() -> dict[str, Any]:
        password = "".join(draw.choices("abc", k=8))
        return {
            "name": draw.choice("abcdef"),
            "acl": draw.choice("rw"),
            "size": draw.randint(1, 1000),
            "password": password,
        }

    drawn_from = ask("lifecycles")
    extents = [extent for extent, weight in drawn_from["extents"] for _ in range(weight)]
    edits = [(box(), box(), draw.choice(extents), draw.randint(0, drawn_from["mostPicks"])) for _ in range(400)]
    made = [(before, edited(before, drawn, extent, pick)) for before, drawn, extent, pick in edits]
    changed = [[key for key in before if after[key] != before[key]] for before, after in made if after != before]
    assert len(changed) > 300
    assert sum(len(keys) == 1 for keys in changed) > len(changed) / 2
    assert sum("name" in keys for keys in changed) < len(changed) / 3


def exported(path: Path, *resources: dict[str, Any]) -> Path:
    states = [
        {"urn": f"urn:pulumi:dev::shop::{it['type']}::{it.pop('name')}", "custom": True, **it} for it in resources
    ]
    path.write_text(json.dumps({"version": 3, "deployment": {"resources": states}}))
    return path


SECRET = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "v1:abc"}
ASSET = {"4dabf18193072939515e22adb298388d": "c44067f5952c0a294b673a41bacd8c17", "hash": "ab"}


def test_lifecycles_begin_with_the_inputs_of_an_exported_stack(tmp_path: Path) -> None:
    first = {"__provider": "code", **EXAMPLES[0], "password": SECRET}
    file = exported(
        tmp_path / "export.json",
        {"name": "a", "type": "box", "inputs": first},
        {"name": "b", "type": "box", "inputs": first},
        {"name": "c", "type": "box", "inputs": {**EXAMPLES[0], "size": 2}},
        {"name": "d", "type": "other", "inputs": {"content": ASSET}},
        {"name": "p", "type": "pulumi:providers:box", "inputs": {}},
    )
    inputs = exported_inputs(file, of_type="box")
    assert inputs == [{**EXAMPLES[0], "password": "[secret]"}, {**EXAMPLES[0], "size": 2}]
    assert exported_inputs(file, names=["c"]) == inputs[1:]
    case = lifecycle_machine(Good, inputs=inputs, world=Cloud).TestCase
    case.settings = settings(case.settings, max_examples=5)
    case().runTest()


def test_an_export_without_the_resources_that_are_asked_for_is_told(tmp_path: Path) -> None:
    file = exported(tmp_path / "export.json", {"name": "d", "type": "other", "inputs": {"files": [{"content": ASSET}]}})
    with pytest.raises(MalokoError, match=r"export\.json has no custom resource of type box named a or b"):
        exported_inputs(file, of_type="box", names=["a", "b"])
    with pytest.raises(MalokoError, match=r"d\.files\[0\]\.content is an asset"):
        exported_inputs(file)
    with pytest.raises(MalokoError, match=r"missing\.json cannot be read as an exported stack"):
        exported_inputs(tmp_path / "missing.json")
