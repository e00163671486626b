"""Values on their way into the state and back, and what is refused."""

import asyncio
import binascii
import datetime
import decimal
import enum
import math
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pulumi
import pytest
from kit import Echo, Thing, creating
from pulumi.dynamic import CheckResult, CreateResult, DiffResult, ReadResult, ResourceProvider, UpdateResult
from stacks import Run, Stack


def made(stack: Stack, outs, id_="made", declared=()) -> Run:
    return stack.run("update", lambda: Thing(creating(outs, id_), "a", dict.fromkeys(declared)))


def outputs(stack: Stack) -> dict:
    return {k: v for k, v in stack.resources()["a"].get("outputs", {}).items() if k != "__provider"}


def test_plain_data_is_kept_as_it_is(stack: Stack) -> None:
    outs = {"text": "ä", "number": 1.5, "whole": 3, "yes": True, "list": [1, [None, "x"]], "dict": {"a": {"b": None}}}
    assert made(stack, outs).outcome == "succeeded"
    assert outputs(stack) == outs


def test_the_sign_of_a_zero_is_kept(stack: Stack) -> None:
    class Comparing(ResourceProvider):
        def diff(self, _id, olds, _news):
            seen.append([olds["zero"], *olds["list"]])
            return DiffResult(changes=False)

    seen: list = []
    made(stack, {"zero": -0.0, "list": [-0.0, 0.0]})
    stack.up(lambda: Thing(Comparing(), "a"))
    assert repr(seen) == "[[-0.0, -0.0, 0.0]]"


# In Node: undefined members are left out
def test_none_at_the_top_is_left_out(stack: Stack) -> None:
    made(stack, {"a": None, "b": 1})
    assert outputs(stack) == {"b": 1}


# In Node: instances of classes count as their data
def test_tuples_and_subclasses_of_plain_types_are_taken_for_them(stack: Stack) -> None:
    class Colour(str, enum.Enum):
        RED = "red"

    class Level(enum.IntEnum):
        HIGH = 3

    class Named(dict):
        pass

    made(stack, {"t": (1, 2), "c": Colour.RED, "l": Level.HIGH, "d": Named(x=1)})
    assert outputs(stack) == {"t": [1, 2], "c": "red", "l": 3, "d": {"x": 1}}


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b"raw", r'outs\["v"\] is a bytes; decode it'),
        ({1, 2}, r'outs\["v"\] is a set; return a sorted list'),
        (decimal.Decimal(1), r'outs\["v"\] is a Decimal; return a float'),
        (datetime.date(2020, 1, 1), r'outs\["v"\] is a date; return its isoformat'),
        (object(), r'outs\["v"\] is an object; return texts'),
        ({1: "x"}, r'outs\["v"\] has the key 1; keys must be texts'),
        ([{"deep": [b"raw"]}], r'outs\["v"\]\[0\]\["deep"\]\[0\] is a bytes'),
        (pulumi.output.Unknown(), r'outs\["v"\] is an unknown value'),
        ("\ud800", r'outs\["v"\] is a text with half a surrogate pair'),
        (10**400, r'outs\["v"\] is a whole number too large'),
    ],
)
def test_what_cannot_be_kept_is_refused_with_its_place(stack: Stack, value, reason) -> None:
    result = made(stack, {"v": value})
    assert result.outcome == "failed"
    assert any(__import__("re").search(reason, text) for text in result.messages("error")), result.diagnostics


def test_nan_is_kept_with_a_warning(stack: Stack) -> None:
    result = made(stack, {"v": math.nan})
    assert result.outcome == "succeeded"
    assert any('outs["v"] is NaN' in text for text in result.messages("warning"))


@pytest.mark.parametrize("id_", [None, "", 7, b"\xff", ["x"]])
def test_a_create_without_a_usable_id_fails(stack: Stack, id_) -> None:
    result = made(stack, {}, id_)
    assert result.outcome == "failed"
    assert any("create returned" in text for text in result.messages("error"))


# In Python alone: types at run time: ints, bytes, dataclasses; assets, which Pulumi's Node server hands over as data
def test_an_id_of_ascii_bytes_is_taken_for_its_text(stack: Stack) -> None:
    made(stack, {}, binascii.b2a_hex(b"\x01\x02"))
    assert stack.resources()["a"]["id"] == "0102"


# In Python alone: types at run time: ints, bytes, dataclasses; assets, which Pulumi's Node server hands over as data
def test_numbers_arrive_as_floats_and_as_ints_where_the_project_says_so(stack: Stack) -> None:
    seen = []

    class Looking(ResourceProvider):
        def create(self, props):
            seen.append(type(props["n"]))
            return CreateResult("x", {})

    stack.up(lambda: Thing(Looking(), "a", {"n": 3}))
    stack.config["maloko:integers"] = "true"
    stack.up(lambda: Thing(Looking(), "b", {"n": 3}))
    assert seen == [float, int]


# In Python alone: types at run time: ints, bytes, dataclasses; assets, which Pulumi's Node server hands over as data
def test_assets_arrive_as_the_sdks_objects(stack: Stack) -> None:
    seen = []

    class Looking(ResourceProvider):
        def create(self, props):
            seen.append(props["asset"])
            return CreateResult("x", props)

    stack.up(lambda: Thing(Looking(), "a", {"asset": pulumi.StringAsset("text")}))
    assert isinstance(seen[0], pulumi.StringAsset)
    assert seen[0].text == "text"
    assert stack.resources()["a"]["outputs"]["asset"]["text"] == "text"


def test_an_asset_with_new_content_is_a_change_and_one_with_the_same_is_none(stack: Stack) -> None:
    seen = []

    class Comparing(ResourceProvider):
        def create(self, props):
            return CreateResult("x", props)

        def diff(self, _id, olds, news):
            seen.append((olds["asset"].hash == news["asset"].hash, olds["asset"] == news["asset"]))
            return DiffResult()

        def update(self, _id, _olds, news):
            return UpdateResult(news)

    for text, changes in (("one", "create"), ("one", "same"), ("two", "update")):
        result = stack.up(lambda text=text: Thing(Comparing(), "a", {"asset": pulumi.StringAsset(text)}))
        assert result.changes.get(changes), changes
    assert seen == [(True, True), (False, False)]


def test_an_asset_that_cannot_be_read_is_an_error_that_names_resource_and_property(stack: Stack) -> None:
    result = stack.run("update", lambda: Thing(Echo(), "a", {"in": [pulumi.FileAsset("gone.txt")]}))
    assert result.outcome == "failed"
    assert "'a': property 'in[0]': the file of an asset cannot be read: " in result.error
    assert "gone.txt" in result.error


@pytest.fixture
def recursion_limit() -> Iterator[Callable[[int], None]]:
    """Sets Python's recursion limit, for the test."""
    before = sys.getrecursionlimit()
    yield sys.setrecursionlimit
    sys.setrecursionlimit(before)


# With a limit as mypy and others set it, the SDK itself does not refuse what is too deep.
@pytest.mark.parametrize(("levels", "limit"), [(101, 1000), (5000, 1000), (200, 16384), (5000, 16384)])
def test_inputs_that_are_nested_too_deeply_are_errors_that_name_resource_and_property(
    stack: Stack, recursion_limit: Callable[[int], None], levels: int, limit: int
) -> None:
    recursion_limit(limit)
    value: object = "x"
    for _ in range(levels):
        value = {"deep": value}
    result = stack.run("update", lambda: Thing(Echo(), "a", {"flat": 1, "v": value}))
    assert result.outcome == "failed"
    said = "\n".join([str(result.error), *(text for *_, text in result.diagnostics)])
    assert "resource 'a': property 'v' is nested too deeply: values may hold 100 levels of objects and lists" in said
    stack.up(lambda: Thing(Echo(), "a", {"v": [[[{"a": [[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]}]]]}))


@pytest.mark.parametrize("levels", [33, 60, 99])
@pytest.mark.parametrize("within", [lambda value: {"deep": value}, lambda value: [value]], ids=["objects", "lists"])
def test_inputs_with_values_in_values_come_back(stack: Stack, within: Callable[[object], object], levels: int) -> None:
    value: object = "x"
    for _ in range(levels):
        value = within(value)
    stack.up(lambda: Thing(Echo(), "a", {"v": value}))
    assert stack.resources()["a"]["outputs"]["v"] == value


# In Python alone: types at run time: ints, bytes, dataclasses; assets, which Pulumi's Node server hands over as data
def test_a_stack_output_that_is_nested_too_deeply_is_an_error_whatever_the_recursion_limit(
    stack: Stack, recursion_limit: Callable[[int], None]
) -> None:
    recursion_limit(16384)
    value: object = "x"
    for _ in range(5000):
        value = {"deep": value}
    result = stack.run("update", lambda: pulumi.export("v", value))
    assert "property 'v' is nested too deeply: values may hold 100 levels of objects and lists" in str(result.exception)


def plain(value: object) -> object:
    """The value as it is, where others make an Output of it."""
    return value


def later(value: object) -> pulumi.Output[object]:
    """An Output that comes to the value."""
    return pulumi.Output.from_input(1).apply(lambda _: value)


def circle(kind: type) -> object:
    """A list or dict that contains itself."""
    value: Any = kind()
    value.append({"in": value}) if kind is list else value.update({"list": [1, value]})
    return value


@pytest.mark.parametrize(("kind", "path"), [(dict, "v.list[1]"), (list, "v[0].in")])
@pytest.mark.parametrize("limit", [1000, 16384])
def test_inputs_that_contain_themselves_are_errors_that_name_resource_and_property(
    stack: Stack, recursion_limit: Callable[[int], None], limit: int, kind: type, path: str
) -> None:
    recursion_limit(limit)
    shared = {"twice": [1]}
    stack.up(lambda: Thing(Echo(), "b", {"v": [shared, shared, {"again": shared}]}))
    result = stack.run("update", lambda: Thing(Echo(), "a", {"flat": 1, "v": circle(kind)}))
    assert f"resource 'a': property '{path}' contains itself: a value has to end somewhere" in str(result.exception)


def test_outputs_that_lead_to_themselves_are_errors_that_name_resource_and_property(stack: Stack) -> None:
    def program() -> None:
        value: dict[str, object] = {}
        value["self"] = pulumi.Output.from_input(1).apply(lambda _: value)
        Thing(Echo(), "a", {"flat": 1, "v": value})

    result = stack.run("update", program)
    assert "resource 'a': property 'v' contains itself by way of an output" in str(result.exception)


def test_inputs_with_half_of_a_surrogate_pair_are_errors_that_name_resource_and_property(stack: Stack) -> None:
    for value, wrap in (({"in": ["ok", "\ud800"]}, plain), ({"in": ["ok", "a\udfff"]}, later)):
        result = stack.run("update", lambda value=value, wrap=wrap: Thing(Echo(), "a", {"flat": 1, "v": wrap(value)}))
        assert "resource 'a': property 'v.in[1]' holds half of a surrogate pair" in str(result.exception)


# In Python alone: types at run time: ints, bytes, dataclasses; assets, which Pulumi's Node server hands over as data
@pytest.mark.parametrize("key", [1, None, True, ("a", 1)])
def test_keys_of_inputs_that_are_no_text_are_errors_that_name_them(stack: Stack, key: object) -> None:
    for wrap in (plain, later):
        result = stack.run("update", lambda wrap=wrap: Thing(Echo(), "a", {"flat": 1, "v": wrap([{"ok": 1, key: 1}])}))
        said = f"resource 'a': property 'v[0]' has the key {key!r}, which is no text; write {str(key)!r}"
        assert said in str(result.exception)


def test_a_pipe_in_an_asset_or_archive_is_refused(stack: Stack, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    inputs = [
        pulumi.FileAsset(str(tmp_path / "pipe")),
        pulumi.FileArchive(str(tmp_path)),
        pulumi.AssetArchive({"a": pulumi.FileAsset(str(tmp_path / "pipe"))}),
        pulumi.FileAsset("/dev/zero"),
    ]
    for value in inputs:
        result = stack.run("update", lambda value=value: Thing(Echo(), "a", {"in": [value]}))
        said = str(result.error)
        assert "'a': property 'in[0]" in said
        assert "it is a pipe, a socket or a device, and no file" in said


# In Python alone: types at run time: ints, bytes, dataclasses; assets, which Pulumi's Node server hands over as data
@pytest.mark.parametrize("sign", [1, -1])
def test_inputs_that_are_too_large_are_errors_that_name_resource_and_property(stack: Stack, sign) -> None:
    value = {"list": [1, sign * 10**400]}
    for give in (lambda: value, lambda: pulumi.Output.from_input(value)):
        result = stack.run("update", lambda give=give: Thing(Echo(), "a", {"flat": 1, "v": give()}))
        assert result.outcome == "failed"
        said = "resource 'a': property 'v.list[1]' is a whole number too large for a double; pass it as a text"
        assert said in str(result.exception)
    result = stack.run("update", lambda: pulumi.export("v", value))
    assert str(result.exception).startswith("property 'v.list[1]' is a whole number too large")


def test_secret_inputs_are_secret_in_the_state(stack: Stack) -> None:
    seen = []

    class Looking(ResourceProvider):
        def check(self, _olds, news):
            return CheckResult(news, [])

        def create(self, props):
            seen.append(props["s"])
            return CreateResult("x", props)

    stack.up(lambda: Thing(Looking(), "a", {"s": pulumi.Output.secret("hush")}))
    assert seen == ["hush"]
    resource = stack.resources()["a"]
    assert resource["inputs"]["s"] != "hush"
    assert resource["outputs"]["s"] != "hush"


# In Python alone: types at run time: ints, bytes, dataclasses; assets, which Pulumi's Node server hands over as data
def test_an_output_without_a_value_is_refused_with_a_way_out(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("maloko._sdk.outputs._PATIENCE_SECONDS", 0.01)

    class Returning(ResourceProvider):
        def create(self, props):
            async def never() -> None:
                await asyncio.Event().wait()

            return CreateResult("x", {"v": pulumi.Output.from_input(never())})

    result = stack.run("update", lambda: Thing(Returning(), "a"))
    assert 'outs["v"] is an Output; it is not resolved yet' in "".join(result.messages("error"))


def test_outputs_that_the_class_does_not_declare_are_told_once_per_class(stack: Stack) -> None:
    result = stack.up(lambda: [Thing(creating({"extra": 1}), f"r{n}") for n in range(3)])
    warnings = [text for text in result.messages("warning") if "do not declare" in text]
    assert len(warnings) == 1
    assert "extra" in warnings[0]
    assert result.outcome == "succeeded"


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_outputs_that_a_class_does_not_declare_are_told_when_they_are_made_and_not_again(stack: Stack) -> None:
    def program() -> None:
        Thing(creating({"extra": 1}), "a")

    for expected in (1, 0):
        result = stack.up(program)
        assert len([text for text in result.messages("warning") if "do not declare" in text]) == expected


def test_each_class_is_told_of_its_own_outputs(stack: Stack) -> None:
    class Plain(Thing):
        pass

    class Telling(Thing):
        pass

    def program() -> None:
        Plain(creating({"n": 1}), "plain", {"n": 1})
        Telling(creating({"hidden": 1}), "telling")

    (warning,) = [text for text in stack.up(program).messages("warning") if "do not declare" in text]
    assert "Telling (hidden)" in warning


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_warnings_of_undeclared_outputs_can_be_switched_off() -> None:
    def warnings(setting: str) -> list[str]:
        stack = Stack(config={"maloko:undeclaredOutputs": setting} if setting else {})
        result = stack.run("update", lambda: Thing(creating({"extra": 1}), "a"))
        return [text for severity in ("warning", "error") for text in result.messages(severity) if "ndeclared" in text]

    assert "maloko config set maloko:undeclaredOutputs ignore" in warnings("")[0]
    assert warnings("ignore") == []
    assert "'maloko:undeclaredOutputs' is 'off', and can only be 'ignore'" in warnings("off")[0]


def recorded_by_every_method(stack: Stack, props: dict) -> dict:
    """What each method is given of a property `v`, by the method and the place of the argument."""
    seen: dict = {}

    class Looking(ResourceProvider):
        def check(self, olds, news):
            seen.setdefault("check", news["v"])
            return CheckResult(news, [])

        def diff(self, _id, olds, news):
            seen["diff"] = [olds["v"], news["v"]]
            return DiffResult(changes=olds["n"] != news["n"])

        def create(self, props):
            seen["create"] = props["v"]
            return CreateResult("x", props)

        def update(self, _id, olds, news):
            seen["update"] = [olds["v"], news["v"]]
            return UpdateResult(news)

        def read(self, id_, props):
            seen["read"] = props["v"]
            return ReadResult(id_, props)

        def delete(self, _id, props):
            seen["delete"] = props["v"]

    for n in (1, 2):
        stack.up(lambda n=n: Thing(Looking(), "a", {**props, "n": n}))
    stack.refresh(lambda: Thing(Looking(), "a", {**props, "n": 2}))
    stack.destroy(lambda: Thing(Looking(), "a", {**props, "n": 2}))
    assert seen.keys() == {"check", "diff", "create", "update", "read", "delete"}
    return {key: value if isinstance(value, list) else [value] for key, value in seen.items()}


# In Python alone: types at run time: ints, bytes, dataclasses; assets, which Pulumi's Node server hands over as data
def test_whole_numbers_are_ints_in_every_method_where_the_project_says_so(stack: Stack) -> None:
    stack.config["maloko:integers"] = "true"
    for values in recorded_by_every_method(stack, {"v": {"deep": [3, 1.5, 4]}}).values():
        for value in values:
            assert [type(number) for number in value["deep"]] == [int, float, int]


# In Python alone: types at run time: ints, bytes, dataclasses; assets, which Pulumi's Node server hands over as data
def test_assets_arrive_with_their_content_in_every_method(stack: Stack) -> None:
    for values in recorded_by_every_method(stack, {"v": pulumi.StringAsset("text")}).values():
        for value in values:
            assert isinstance(value, pulumi.StringAsset)
            assert value.text == "text"
