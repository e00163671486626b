"""Names that the engine gives to objects of providers that ask for it."""

import pytest
from kit import Thing
from pulumi import ResourceOptions
from pulumi.dynamic import CreateResult, DiffResult, ResourceProvider, UpdateResult
from stacks import Stack


class Buckets(ResourceProvider):
    autonaming = "bucketName"

    def __init__(self) -> None:
        self.live: list[str] = []

    def create(self, props):
        assert props["bucketName"] not in self.live, "the name is taken"
        self.live.append(props["bucketName"])
        return CreateResult(props["bucketName"], props)

    def diff(self, _id, olds, news):
        return DiffResult(changes=olds != news, replaces=["zone"] if olds["zone"] != news["zone"] else [])

    def update(self, _id, _olds, news):
        return UpdateResult(news)

    def delete(self, id_, _props):
        self.live.remove(id_)


def name_of(stack: Stack) -> str:
    return str(stack.resources()["a"]["outputs"]["bucketName"])


def test_a_missing_name_is_filled_in_kept_by_updates_and_drawn_anew_by_a_replacement(stack: Stack) -> None:
    provider = Buckets()
    stack.up(lambda: Thing(provider, "a", {"zone": "x", "bucketName": None}))
    first = name_of(stack)
    assert first.startswith("a-")
    assert len(first) == 9
    stack.up(lambda: Thing(provider, "a", {"zone": "x", "size": 2}))
    assert name_of(stack) == first
    result = stack.up(lambda: Thing(provider, "a", {"zone": "y", "size": 2}))
    assert name_of(stack) != first
    assert [op for op, urn in result.steps if urn.endswith("::a")] == [
        "create-replacement",
        "replace",
        "delete-replaced",
    ]
    assert provider.live == [name_of(stack)]


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_an_explicit_name_makes_a_replacement_delete_first_unless_the_option_says_otherwise(stack: Stack) -> None:
    provider = Buckets()
    for zone in ("x", "y"):
        result = stack.up(lambda zone=zone: Thing(provider, "a", {"zone": zone, "bucketName": "mine"}))
    assert [op for op, urn in result.steps if urn.endswith("::a")] == [
        "delete-replaced",
        "replace",
        "create-replacement",
    ]
    first = ResourceOptions(delete_before_replace=False)
    with pytest.raises(AssertionError, match="the name is taken"):
        stack.up(lambda: Thing(provider, "a", {"zone": "z", "bucketName": "mine"}, first))


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_the_configuration_says_how_names_are_made(stack: Stack) -> None:
    stack.config["pulumi:autonaming"] = '{"pattern": "${project}-${stack}-${name}-${num(3)}"}'
    stack.up(lambda: Thing(Buckets(), "a", {"zone": "x"}))
    name = name_of(stack)
    assert name[:-3] == "project-dev-a-"
    assert name[-3:].isdigit()


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_disabled_automatic_names_ask_for_an_explicit_one(stack: Stack) -> None:
    stack.config["pulumi:autonaming"] = '{"mode": "disabled"}'
    result = stack.run("update", lambda: Thing(Buckets(), "a", {"zone": "x"}))
    assert "property 'bucketName' is missing, and pulumi:autonaming turns automatic names off" in result.error


def test_a_longest_name_is_respected(stack: Stack) -> None:
    class Short(Buckets):
        autonaming = {"property": "bucketName", "max_length": 12}  # noqa: RUF012 a declaration

    stack.up(lambda: Thing(Short(), "a-long-name", {"zone": "x"}))
    name = stack.resources()["a-long-name"]["outputs"]["bucketName"]
    assert len(name) == 12
    assert name.startswith("a-lo-")


@pytest.mark.parametrize(
    ("declared", "reason"),
    [
        (3, "must be the name of a property"),
        ({"max_length": 3}, "must be the name of a property"),
        ({"property": "n", "longest": 3}, "unknown member"),
        ({"property": "n", "max_length": 0}, "must be a whole number above 0"),
    ],
)
def test_a_declaration_that_cannot_be_used_is_an_error(stack: Stack, declared, reason) -> None:
    class Wrong(Buckets):
        autonaming = declared

    with pytest.raises(TypeError, match=reason):
        stack.up(lambda: Thing(Wrong(), "a", {"zone": "x"}))


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_providers_that_do_not_opt_in_see_nothing_of_it(stack: Stack) -> None:
    class Plain(ResourceProvider):
        def create(self, props):
            return CreateResult("made", props)

    stack.config["pulumi:autonaming"] = '{"mode": "disabled"}'
    stack.up(lambda: Thing(Plain(), "a", {"zone": "x"}))
    outputs = stack.resources()["a"]["outputs"]
    assert {key for key in outputs if key != "__provider"} == {"zone"}
