"""Which provider object serves a resource that the program does not register any more."""

import os
import threading
from typing import ClassVar

import pytest
from kit import Thing, nothing
from pulumi.dynamic import CreateResult, ReadResult, ResourceProvider
from sample_package import providers
from sample_package.providers import Restored, Shipped
from stacks import Stack

from maloko import MalokoError, register_provider


@pytest.fixture(autouse=True)
def _nothing_deleted() -> None:
    providers.deleted.clear()
    Shipped.built = 0


class Assigning(ResourceProvider):
    """Makes its methods in its constructor, as older programs do."""

    made = 0

    def __init__(self) -> None:
        type(self).made += 1
        secrets = ["known to the constructor alone"]

        def create(props):
            return CreateResult("made", {})

        self.region = "here"
        self.create = create  # type: ignore[method-assign]
        self.delete = lambda id_, props: providers.deleted.append((self.region, id_, *secrets))  # type: ignore


class Derived(Assigning):
    pass


class Told(ResourceProvider):
    def __init__(self, label: str) -> None:
        self.create = lambda props: CreateResult("made", {})  # type: ignore[method-assign]
        self.delete = lambda id_, props: providers.deleted.append((label, id_))  # type: ignore[method-assign]


class Replaced(Assigning):
    def __init__(self) -> None:
        super().__init__()


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


@pytest.mark.parametrize("kind", [Assigning, Derived, Replaced])
def test_a_provider_whose_constructor_assigns_its_methods_can_be_found_again(
    stack: Stack, kind: type[Assigning]
) -> None:
    def program() -> None:
        provider = kind()
        provider.region = "there"
        Thing(provider, "a")
        Thing(kind(), "b")

    first = stack.up(program)
    assert not [it for it in first.messages("warning") if "could not be found again" in it]
    kind.made = 0
    stack.up(nothing)
    secret = "known to the constructor alone"
    assert sorted(providers.deleted) == [("here", "made", secret), ("there", "made", secret)]
    assert kind.made == 2


def test_functions_that_a_constructor_does_not_make_alone_are_attributes(stack: Stack) -> None:
    changed = Assigning()
    changed.delete = lambda id_, props: providers.deleted.append(("from outside", id_))  # type: ignore[method-assign]
    stack.up(lambda: [Thing(Told("x"), "told"), Thing(changed, "changed")])
    told = "".join(stack.run("update", nothing).messages("error"))
    assert "its attribute 'create' is (or holds) a function" in told
    assert "its attribute 'delete' is (or holds) a function" in told
    assert sorted(stack.resources()) == ["changed", "told"]
    assert providers.deleted == []


# In Python alone: modules, virtual environments and pickling
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


# In Python alone: modules, virtual environments and pickling
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


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_an_orphan_does_not_keep_other_resources_from_being_deleted(stack: Stack) -> None:
    stack.up(lambda: [Thing(WithClient("lost"), "a"), Thing(Shipped("kept"), "b")])
    result = stack.run("update", nothing)
    assert result.outcome == "failed"
    assert providers.deleted == [("kept", "kept-1")]
    assert list(stack.resources()) == ["a"]


def test_an_object_of_this_run_comes_before_a_factory(stack: Stack) -> None:
    stack.up(lambda: [Thing(Shipped("x"), "a"), Thing(Shipped("x"), "b")])
    register_provider(Shipped, lambda attributes: WithClient("by hand"))
    stack.up(lambda: Thing(Shipped("x"), "a"))
    assert providers.deleted == [("x", "x-1")]


def test_a_factory_comes_before_a_class_that_can_be_found_again(stack: Stack) -> None:
    stack.up(lambda: Thing(Shipped("x"), "a"))
    register_provider(Shipped, lambda attributes: WithClient("by hand"))
    stack.up(nothing)
    assert providers.deleted == [("by hand", "x-1")]


def test_a_factory_gets_the_attributes_that_could_be_stored(stack: Stack) -> None:
    stack.up(lambda: [Thing(WithClient("kept"), "a"), Thing(WithClient("kept"), "b")])
    seen = []

    def factory(attributes):
        seen.append(attributes)
        return WithClient("by hand")

    register_provider(WithClient, factory)
    stack.up(nothing)
    assert seen == [{"label": "kept"}]
    assert providers.deleted == [("by hand", "made")] * 2


@pytest.mark.parametrize("key", [f"{__name__}:WithClient", "WithClient"])
def test_a_factory_can_be_registered_by_name(stack: Stack, key: str) -> None:
    stack.up(lambda: Thing(WithClient("first"), "a"))
    register_provider(key, lambda attributes: WithClient("by name"))
    stack.up(nothing)
    assert providers.deleted == [("by name", "made")]


def test_a_factory_that_returns_no_provider_is_an_error_that_says_so(stack: Stack) -> None:
    stack.up(lambda: Thing(WithClient("first"), "a"))
    register_provider(WithClient, lambda attributes: None)
    with pytest.raises(MalokoError, match="WithClient' returned None; it must return a provider object"):
        stack.up(nothing)

    async def factory(attributes):
        return WithClient("late")

    register_provider(WithClient, factory)
    with pytest.raises(MalokoError, match="returned 'a coroutine'"):
        stack.up(nothing)
    assert "a" in stack.resources()


class Renamed(Shipped):
    """What was called `Shipped` once."""

    def delete(self, id_, props):
        providers.deleted.append((f"renamed {self.label}", id_))


@pytest.mark.parametrize("former", ["sample_package.providers:Shipped", "Shipped"])
def test_a_class_that_was_renamed_is_found_by_its_former_name(stack: Stack, former: str) -> None:
    stack.up(lambda: Thing(Shipped("x"), "a"))
    register_provider(Renamed, formerly=former)
    Shipped.built = 0
    stack.up(nothing)
    assert providers.deleted == [("renamed x", "x-1")]
    assert Shipped.built == 0


def test_an_object_of_the_renamed_class_serves_what_the_former_made(stack: Stack) -> None:
    stack.up(lambda: [Thing(Shipped("x"), "a"), Thing(Renamed("x"), "b")])
    register_provider(Renamed, formerly="sample_package.providers:Shipped")
    Renamed.built = 0
    stack.up(lambda: Thing(Renamed("x"), "b"))
    assert providers.deleted == [("renamed x", "x-1")]
    assert Renamed.built == 1


def test_a_factory_of_the_renamed_class_serves_what_the_former_made(stack: Stack) -> None:
    stack.up(lambda: Thing(WithClient("x"), "a"))
    register_provider(Renamed, lambda attributes: Renamed(attributes["label"]), formerly=["other:Name", "WithClient"])
    stack.up(nothing)
    assert providers.deleted == [("renamed x", "made")]


def test_what_is_registered_by_hand_must_say_something() -> None:
    with pytest.raises(MalokoError, match="says nothing about"):
        register_provider(Renamed)
    with pytest.raises(MalokoError, match="in which module is it now"):
        register_provider("Renamed", formerly="Shipped")
    with pytest.raises(TypeError, match="the key of register_provider is 3"):
        register_provider(3, lambda attributes: None)
    with pytest.raises(TypeError, match=r"formerly of .* is 3"):
        register_provider(Renamed, formerly=[3])


def test_a_provider_that_could_not_be_found_again_is_warned_of_once_when_it_makes_something(stack: Stack) -> None:
    def program() -> None:
        for name in "abc":
            Thing(WithClient(name), name)
        Thing(Shipped("x"), "d")

    for dry_run in (True, False):
        (warning,) = stack.run("update", program, dry_run=dry_run).messages("warning")
        assert "WithClient" in warning
        assert "3 resources" in warning
        assert "'client'" in warning
        assert "make clients and locks in `configure`" in warning
        assert f'register_provider("{__name__}:WithClient"' in warning
    assert stack.up(program).messages("warning") == []


def test_nothing_is_warned_of_that_is_registered_by_hand(stack: Stack) -> None:
    def program() -> None:
        Thing(WithClient("x"), "a")
        register_provider(WithClient, lambda attributes: WithClient("by hand"))

    assert stack.up(program).messages("warning") == []


class Today(ResourceProvider):
    """Its token comes from the configuration and is an attribute too; its address comes from the environment."""

    seen: ClassVar[list[str]] = []

    def __init__(self, token: str) -> None:
        self.token = token

    def configure(self, req):
        self.token = req.config.require("token")

    def note(self, method: str) -> None:
        self.seen.append(f"{method} with {self.token} at {os.environ['MALOKO_TEST_ADDRESS']}")

    def create(self, props):
        self.note("create")
        return CreateResult("made", {})

    def read(self, id_, props):
        self.note("read")
        return ReadResult(id_, props)

    def delete(self, id_, props):
        self.note("delete")


def test_delete_and_refresh_see_the_configuration_and_environment_of_their_run(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    Today.seen = []
    for day, operate in enumerate([stack.up, stack.refresh, stack.destroy]):
        monkeypatch.setenv("MALOKO_TEST_ADDRESS", f"address {day}")
        stack.config["token"] = f"token {day}"
        operate(lambda: Thing(Today("first"), "a"))
    assert Today.seen == [
        "create with token 0 at address 0",
        "read with token 1 at address 1",
        "delete with token 2 at address 2",
    ]


def test_attributes_in_the_state_do_not_override_what_configure_sets(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MALOKO_TEST_ADDRESS", "here")
    stack.config["token"] = "old"
    stack.up(lambda: Thing(Today("stored"), "a"))
    Today.seen = []
    stack.config["token"] = "new"
    stack.refresh(nothing)
    stack.destroy(nothing)
    assert Today.seen == ["read with new at here", "delete with new at here"]
