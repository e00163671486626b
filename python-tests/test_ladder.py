"""Which provider object serves a resource that the program does not register any more."""

import threading
from typing import ClassVar

import pytest
from kit import Thing, nothing
from pulumi.dynamic import CreateResult, ResourceProvider
from sample_package import providers
from sample_package.providers import Restored, Shipped

from maloko import register_provider
from maloko._embedded import Stack


@pytest.fixture(autouse=True)
def _nothing_deleted() -> None:
    providers.deleted.clear()
    Shipped.built = 0


class WithClient(ResourceProvider):
    def __init__(self, label: str) -> None:
        self.label = label
        self.client = threading.Lock()

    def create(self, props):
        return CreateResult("made", {})

    def delete(self, id_, props):
        providers.deleted.append((self.label, id_))


def test_the_object_registered_for_the_resource_serves_it(stack: Stack) -> None:
    provider = WithClient("live")
    stack.up(lambda: Thing(provider, "a"))
    stack.destroy(lambda: Thing(provider, "a"))
    assert providers.deleted == [("live", "made")]


def test_an_equal_object_of_this_run_serves_a_resource_that_was_removed(stack: Stack) -> None:
    stack.up(lambda: [Thing(Shipped("x"), "a"), Thing(Shipped("x"), "b")])
    Shipped.built = 0
    stack.up(lambda: Thing(Shipped("x"), "a"))
    assert providers.deleted == [("x", "x-1")]
    assert Shipped.built == 1


def test_an_object_registered_by_hand_serves_what_cannot_be_rebuilt(stack: Stack) -> None:
    stack.up(lambda: Thing(WithClient("first"), "a"))
    register_provider(WithClient, lambda attributes: WithClient("by hand"))
    stack.up(nothing)
    assert providers.deleted == [("by hand", "made")]


def test_an_object_is_rebuilt_from_its_reference_without_its_constructor(stack: Stack) -> None:
    stack.up(lambda: Thing(Shipped("again"), "a"))
    Shipped.built = 0
    stack.up(nothing)
    assert providers.deleted == [("again", "again-1")]
    assert Shipped.built == 0


def test_setstate_is_called_where_a_class_has_it(stack: Stack) -> None:
    stack.up(lambda: Thing(Restored("state"), "a"))
    stack.up(nothing)
    assert providers.deleted == [("state", "made")]


def test_a_rebuilt_object_is_configured_before_it_is_called(stack: Stack) -> None:
    stack.config["token"] = "abc"
    stack.up(lambda: Thing(Configured("c"), "a"))
    Configured.seen = []
    stack.up(nothing)
    assert Configured.seen == ["configure abc", "delete abc"]


class Configured(ResourceProvider):
    seen: ClassVar[list[str]] = []
    attributes: ClassVar[list[str]] = []

    def __init__(self, label: str) -> None:
        self.label = label

    def configure(self, req):
        type(self).attributes = sorted(vars(self))
        self.token = req.config.require("token")
        self.seen.append(f"configure {self.token}")

    def create(self, props):
        return CreateResult("made", {})

    def delete(self, id_, props):
        self.seen.append(f"delete {self.token}")


def test_attributes_are_read_before_configure(stack: Stack) -> None:
    stack.config["token"] = "not to be kept"
    stack.up(lambda: Thing(Configured("c"), "a"))
    Configured.seen = []
    stack.up(nothing)
    assert Configured.attributes == ["label"]


def test_an_object_with_a_client_is_an_error_that_names_the_attribute(stack: Stack) -> None:
    stack.up(lambda: Thing(WithClient("first"), "a"))
    result = stack.run("update", nothing)
    text = "".join(result.messages("error"))
    assert result.outcome == "failed"
    assert "'client'" in text
    assert "WithClient" in text
    assert "register_provider" in text
    assert "a" in stack.resources()
    assert providers.deleted == []


def test_a_class_that_is_local_to_a_function_is_an_error_that_says_so(stack: Stack) -> None:
    class Local(ResourceProvider):
        def create(self, props):
            return CreateResult("made", {})

        def delete(self, id_, props):
            raise AssertionError

    stack.up(lambda: Thing(Local(), "a"))
    result = stack.run("update", nothing)
    assert result.outcome == "failed"
    assert "inside a function" in "".join(result.messages("error"))
    assert "a" in stack.resources()


def test_two_clients_of_one_class_are_never_mixed_up(stack: Stack) -> None:
    stack.up(lambda: [Thing(WithClient("one"), "a"), Thing(WithClient("two"), "b")])
    result = stack.run("update", lambda: Thing(WithClient("one"), "a"))
    assert result.outcome == "failed"
    assert providers.deleted == []
    assert "b" in stack.resources()


def test_attributes_beyond_the_limit_are_not_kept(stack: Stack) -> None:
    stack.up(lambda: Thing(Shipped("x" * 70_000), "a"))
    result = stack.run("update", nothing)
    assert "at most 65536 are kept" in "".join(result.messages("error"))


def test_a_factory_that_raises_fails_the_resource_with_its_error(stack: Stack) -> None:
    stack.up(lambda: Thing(WithClient("first"), "a"))

    def factory(attributes):
        raise OSError("no credentials")

    register_provider(WithClient, factory)
    with pytest.raises(OSError, match="no credentials"):
        stack.up(nothing)
    assert "a" in stack.resources()
