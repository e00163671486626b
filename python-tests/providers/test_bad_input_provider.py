"""Provider methods that raise, or return what nobody can use: what is said, and that nothing is lost."""

import json
import math

import pytest
from kit import Thing
from night import by_day, rounds
from pulumi.dynamic import CheckResult, CreateResult, DiffResult, ReadResult, ResourceProvider, UpdateResult
from stacks import Run, Stack

from maloko import PartialFailure

METHODS = ["check", "diff", "create", "read", "update", "delete"]
WITH_VALUES = ["check", "create", "read", "update"]


class Good(ResourceProvider):
    """Does everything right."""

    def diff(self, _id, olds, news):
        return DiffResult(changes=olds.get("n") != news.get("n"))

    def create(self, props):
        return CreateResult("made", dict(props))

    def update(self, _id, _olds, news):
        return UpdateResult(dict(news))


def providing(method: str, answer) -> ResourceProvider:
    """A provider with one method that is not as it should be."""
    bad = type("Bad", (Good,), {method: lambda _self, *_: answer()})
    provider: ResourceProvider = bad()
    return provider


def wrapped(method: str, value):
    return {
        "check": lambda: CheckResult(value, []),
        "create": lambda: CreateResult("made", value),
        "read": lambda: ReadResult("made", value),
        "update": lambda: UpdateResult(value),
    }[method]


def run_with(stack: Stack, method: str, answer) -> Run:
    """Brings the resource into the state in which the method is called, and runs with it."""
    if method not in ("check", "create"):
        stack.up(lambda: Thing(Good(), "a", {"n": 1}))
    provider = providing(method, answer)
    if method == "read":
        return stack.run("refresh", lambda: Thing(provider, "a", {"n": 1}))
    if method == "delete":
        return stack.run("destroy", lambda: Thing(provider, "a", {"n": 1}))
    return stack.run("update", lambda: Thing(provider, "a", {"n": 2}))


def errors_on_the_resource(result: Run) -> str:
    return "\n".join(text for severity, urn, text in result.diagnostics if severity == "error" and urn.endswith("::a"))


def goes_on_after(stack: Stack) -> None:
    """A correct program brings the stack to where it should be, with the object that there was."""
    had = "a" in stack.resources()
    result = stack.up(lambda: Thing(Good(), "a", {"n": 3}))
    assert result.changes.get("create" if had else "update") is None
    assert stack.resources()["a"]["outputs"]["n"] == 3


class NoRouteError(Exception):
    pass


@pytest.mark.parametrize("method", METHODS)
def test_a_method_that_raises_fails_its_resource_and_loses_nothing(stack: Stack, method) -> None:
    def answer():
        raise NoRouteError("no route to the service")

    result = run_with(stack, method, answer)
    assert result.outcome == "failed"
    said = errors_on_the_resource(result)
    assert "NoRouteError: no route to the service" in said
    assert __file__ in said
    goes_on_after(stack)


@pytest.mark.parametrize("returned", [None, 3, "text", [1], b"raw"])
@pytest.mark.parametrize("method", ["check", "diff", "create", "read", "update"])
def test_a_method_that_returns_the_wrong_type_is_named_with_what_it_must_return(stack: Stack, method, returned) -> None:
    result = run_with(stack, method, lambda: returned)
    assert result.outcome == "failed"
    said = errors_on_the_resource(result)
    assert f"{method} returned" in said
    assert f"{method.capitalize()}Result" in said
    goes_on_after(stack)


def test_what_delete_returns_does_not_matter(stack: Stack) -> None:
    result = run_with(stack, "delete", lambda: 3)
    assert result.outcome == "succeeded"
    assert stack.resources() == {}


def cyclic():
    value: dict = {}
    value["self"] = [value]
    return value


def deep():
    value: dict = {}
    for _ in range(10_000):
        value = {"d": value}
    return {"v": value}


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (cyclic(), '["self"][0] contains itself'),
        (deep(), "is nested deeper than"),
        ({"d": {1: 2}}, '["d"] has the key 1; keys must be texts'),
        ({None: 1}, "has the key None; keys must be texts"),
        ({"v": b"raw"}, '["v"] is a bytes; decode it'),
        ({"v": object()}, '["v"] is an object; return texts'),
        ([1], "is a list; properties must be a dict"),
    ],
    ids=["cyclic", "deep", "number-as-key", "none-as-key", "bytes", "object", "list"],
)
@pytest.mark.parametrize("method", WITH_VALUES)
def test_values_that_cannot_be_kept_are_refused_with_their_place(stack: Stack, method, value, reason) -> None:
    result = run_with(stack, method, wrapped(method, value))
    assert result.outcome == "failed"
    said = errors_on_the_resource(result)
    assert f"{method} returned a value that cannot be kept" in said
    assert reason in said
    assert len(said) < 1000
    goes_on_after(stack)


@pytest.mark.parametrize("method", ["create", "update"])
def test_an_object_whose_outputs_cannot_be_kept_stays_in_the_state_with_those_that_can(stack: Stack, method) -> None:
    result = run_with(stack, method, wrapped(method, {"fine": 1, "raw": b"raw"}))
    assert result.outcome == "failed"
    resource = stack.resources()["a"]
    assert resource["id"] == "made"
    assert resource["outputs"]["fine"] == 1
    assert "raw" not in resource["outputs"]
    assert resource["initErrors"]
    assert "pending_operations" not in stack.export()["deployment"]
    goes_on_after(stack)


SIGNATURE = "4dabf18193072939515e22adb298388d"
SECRET = "1b47061264138c4ac30d75fd1eb44270"
NUMBER = "8ad145fe-0d11-4827-bfd7-1abcbf086f5c"


def marked(signature, **members):
    return {SIGNATURE: signature, **members}


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (marked("frob"), f'has the key "{SIGNATURE}" with a value that is no signature of Pulumi\'s'),
        (marked(5), "is no signature of Pulumi's"),
        (marked(None), "is no signature of Pulumi's"),
        (marked("5cf8f73096256a8f31e491e813e4eb8e", id="CANARY"), "is no signature of Pulumi's"),
        (marked("d0e6a833031e9bbcd3f4e8bde6ca49a4", value="CANARY"), "is no signature of Pulumi's"),
        (marked(SECRET), 'is marked as a secret, but has no "value"'),
        (marked(SECRET, ciphertext="CANARY"), 'has no "value"'),
        (marked(SECRET, plaintext="{CANARY"), 'has no "value"'),
        (marked(SECRET, plaintext='"CANARY"'), 'has no "value"'),
        (marked(NUMBER), 'its "value" is not 16 hex digits'),
        (marked(NUMBER, value="CANARY"), 'its "value" is not 16 hex digits'),
        (marked("c44067f5952c0a294b673a41bacd8c17"), "an asset needs a text, a path or a URI"),
        (marked("c44067f5952c0a294b673a41bacd8c17", path="no/such/file"), "the file of an asset cannot be read"),
        (marked("0def7320c3a5731c473e5ecbe6d01bc7"), "an archive needs assets, a path or a URI"),
    ],
)
@pytest.mark.parametrize("method", WITH_VALUES)
def test_what_only_looks_like_a_special_value_is_refused_and_nothing_is_lost(
    stack: Stack, method, value, reason
) -> None:
    result = run_with(stack, method, wrapped(method, {"fine": 1, "v": [{"d": value}]}))
    assert result.outcome == "failed"
    assert reason in errors_on_the_resource(result)
    assert "CANARY" not in str(stack.export())
    if method in ("create", "update"):
        resource = stack.resources()["a"]
        assert resource["id"] == "made"
        assert resource["outputs"]["fine"] == 1
        assert "v" not in resource["outputs"]
    goes_on_after(stack)


@pytest.mark.parametrize("method", WITH_VALUES)
def test_properties_that_as_a_whole_look_like_a_special_value_are_refused(stack: Stack, method) -> None:
    result = run_with(stack, method, wrapped(method, marked(SECRET, value="CANARY")))
    assert result.outcome == "failed"
    assert "which only special values have" in errors_on_the_resource(result)
    assert "CANARY" not in str(stack.export())
    goes_on_after(stack)


@pytest.mark.parametrize("value", ["CANARY", None, {"deep": ["CANARY"]}])
@pytest.mark.parametrize("method", WITH_VALUES)
def test_what_is_marked_as_a_secret_is_one(stack: Stack, method, value) -> None:
    result = run_with(stack, method, wrapped(method, {"n": 1, "list": [marked(SECRET, value=value)]}))
    assert result.outcome == "succeeded"
    [kept] = stack.resources()["a"]["outputs"]["list"]
    assert kept == marked(SECRET, plaintext=json.dumps(value, separators=(",", ":")))


def test_a_failure_in_part_keeps_those_outputs_that_can_be_kept(stack: Stack) -> None:
    def answer():
        raise PartialFailure("made", {"fine": 1, "v": marked(SECRET, plaintext='"CANARY"')}, ["no power"])

    assert run_with(stack, "create", answer).outcome == "failed"
    resource = stack.resources()["a"]
    assert (resource["id"], resource["outputs"]["fine"], "v" in resource["outputs"]) == ("made", 1, False)
    assert resource["initErrors"][0] == "no power"
    assert 'has no "value"' in resource["initErrors"][1]
    goes_on_after(stack)


@pytest.mark.parametrize("method", WITH_VALUES)
def test_nan_and_whole_numbers_that_lose_digits_are_kept_with_a_warning_that_names_the_path(
    stack: Stack, method
) -> None:
    result = run_with(stack, method, wrapped(method, {"n": 1, "v": math.nan, "l": [0, 2**60 + 1]}))
    assert result.outcome == "succeeded"
    warnings = "\n".join(text for severity, urn, text in result.diagnostics if severity == "warning" and "::a" in urn)
    assert f"{method} returned a value to look at" in warnings
    assert '["v"] is NaN' in warnings
    assert '["l"][1] is a whole number beyond 2**53' in warnings


@pytest.mark.parametrize("method", by_day(WITH_VALUES, lambda method, _: method == "create"))
def test_enormous_values_are_kept(stack: Stack, method) -> None:
    size, count = rounds(2_000_000, 10_000_000), rounds(20_000, 100_000)
    value = {"n": 1, "text": "x" * size, "many": {f"k{number}": number for number in range(count)}}
    result = run_with(stack, method, wrapped(method, value))
    assert result.outcome == "succeeded"
    kept = stack.resources()["a"]["outputs"]
    assert len(kept["text"]) == size
    assert len(kept["many"]) == count


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_outputs_that_the_class_does_not_declare_are_not_all_listed_where_there_are_many(stack: Stack) -> None:
    count = rounds(10_000, 100_000)
    result = run_with(stack, "create", wrapped("create", {f"k{number}": number for number in range(count)}))
    (warning,) = [text for text in result.messages("warning") if "do not declare" in text]
    assert "k0" in warning
    assert f"{count - 10} more" in warning
    assert len(warning) < 1000


@pytest.mark.parametrize("names", ["n", b"n", [1], [b"n"], {"n": object()}.values()])
def test_names_in_a_diff_that_are_no_texts_are_refused(stack: Stack, names) -> None:
    result = run_with(stack, "diff", lambda: DiffResult(changes=True, replaces=names))
    assert result.outcome == "failed"
    assert "diff returned replaces" in errors_on_the_resource(result)
    goes_on_after(stack)


def test_a_read_without_properties_does_not_count_as_gone(stack: Stack) -> None:
    result = run_with(stack, "read", lambda: ReadResult("made", None))
    assert result.outcome == "failed"
    assert "read returned an id without properties" in errors_on_the_resource(result)
    assert stack.resources()["a"]["outputs"]["n"] == 1
    goes_on_after(stack)


def test_a_create_without_an_id_is_named_until_somebody_has_looked(stack: Stack) -> None:
    result = run_with(stack, "create", lambda: CreateResult(None, {}))  # type: ignore[arg-type]
    assert result.outcome == "failed"
    assert "create returned no id" in errors_on_the_resource(result)
    assert [pending["type"] for pending in stack.export()["deployment"]["pending_operations"]] == ["creating"]
    again = stack.run("update", lambda: Thing(Good(), "a", {"n": 3}))
    assert again.outcome == "succeeded"
    assert any("there may now be one object too many" in text for text in again.messages("warning"))


def test_a_result_that_raises_when_it_is_read_does_not_count_as_a_method_that_raised(stack: Stack) -> None:
    class Odd:
        id = "made"

        @property
        def outs(self):
            raise NoRouteError("lazily loaded")

    result = run_with(stack, "create", Odd)
    assert result.outcome == "failed"
    assert "NoRouteError: lazily loaded" in errors_on_the_resource(result)
    assert [pending["type"] for pending in stack.export()["deployment"]["pending_operations"]] == ["creating"]


def test_all_failures_of_check_are_told_under_their_resource(stack: Stack) -> None:
    from pulumi.dynamic import CheckFailure

    failures = [CheckFailure("colour", "not hex"), CheckFailure("size", "too large"), CheckFailure("", "nothing fits")]
    result = run_with(stack, "check", lambda: CheckResult({}, failures))
    assert errors_on_the_resource(result).splitlines() == [
        "property colour is not valid: not hex",
        "property size is not valid: too large",
        "its inputs are not valid: nothing fits",
    ]
    goes_on_after(stack)


def test_a_provider_without_create_is_refused_before_anything_is_recorded(stack: Stack) -> None:
    class OnlyReads(ResourceProvider):
        def read(self, id_, props):
            return ReadResult(id_, props)

    for run in (stack.preview, stack.up):
        result = run(lambda: Thing(OnlyReads(), "a", {"n": 1}))
        assert result.outcome == "failed"
        assert "OnlyReads has no `create`" in errors_on_the_resource(result)
    assert "a" not in stack.resources()
    # Nothing was called, so that there is no object to wonder about.
    told = stack.up(lambda: Thing(Good(), "a", {"n": 1})).diagnostics
    assert [text for severity, _, text in told if severity == "warning"] == []
