"""What a provider makes on first use out of its configuration belongs to one run, as what `configure` sets does."""

import functools
from typing import Any

import pytest
from kit import Echo, Thing
from pulumi.dynamic import CreateResult
from runs_at_once import another_run
from stacks import Stack

from maloko.testing import Kit


class Client:
    def __init__(self, token: str | None) -> None:
        self.token = token


class Lazy(Echo):
    """Makes its clients when they are needed."""

    config: Any

    def __init__(self) -> None:
        self.other: Client | None = None
        self.calls: list[str] = []
        self.created = 0
        self.last = "none"

    def configure(self, req: Any) -> None:
        self.config = req.config

    def api(self) -> str:
        if not hasattr(self, "client"):
            self.client = Client(self.config.get("token"))
        if self.other is None:
            self.other = Client(self.config.get("token"))
        return f"{self.client.token}, {self.other.token}, {self.cached.token}"

    @functools.cached_property
    def cached(self) -> Client:
        return Client(self.config.get("token"))

    def create(self, props: dict[str, Any]) -> CreateResult:
        failing = getattr(self, "failing", None)
        if failing is not None:
            raise ValueError(failing)
        self.created += 1
        self.last = props["name"]
        self.calls.append(self.last)
        return CreateResult("made", {**props, "token": self.api()})


def every(token: str) -> str:
    return f"{token}, {token}, {token}"


def deployed(provider: Any, token: str) -> str:
    stack = Stack(name=token, config={"token": token})
    stack.up(lambda: Thing(provider, "a", {"name": "a"}))
    return str(stack.resources()["a"]["outputs"]["token"])


def test_a_client_that_a_method_makes_on_first_use_belongs_to_one_run() -> None:
    provider = Lazy()
    assert deployed(provider, "tok-a") == every("tok-a")
    # A test may look at it until the next run.
    assert provider.client.token == "tok-a"
    assert deployed(provider, "tok-b") == every("tok-b")
    assert provider.client.token == "tok-b"
    assert deployed(provider, "tok-c") == every("tok-c")
    # What had a value stays as the methods left it.
    assert (provider.calls, provider.created, provider.last) == (["a", "a", "a"], 3, "a")


def test_a_client_that_replaces_the_one_of_configure_belongs_to_one_run() -> None:
    class Renewing(Echo):
        def configure(self, req: Any) -> None:
            if not hasattr(self, "client"):
                self.client = Client(req.config.get("token"))

        def create(self, props: dict[str, Any]) -> CreateResult:
            self.client = Client(f"{self.client.token} renewed")
            return super().create({**props, "token": self.client.token})

    provider = Renewing()
    assert deployed(provider, "tok-a") == "tok-a renewed"
    assert deployed(provider, "tok-b") == "tok-b renewed"


def test_a_default_of_the_class_is_a_value() -> None:
    class Counting(Lazy):
        total = 0

        def create(self, props: dict[str, Any]) -> CreateResult:
            self.total += 1
            return super().create(props)

    provider = Counting()
    deployed(provider, "tok-a")
    deployed(provider, "tok-b")
    assert provider.total == 2


def test_a_second_run_at_the_same_time_makes_a_client_of_its_own() -> None:
    provider = Lazy()
    deployed(provider, "tok-a")
    with another_run(provider, token="tok-b"):
        assert deployed(provider, "tok-c") == every("tok-c")
    assert provider.client.token == "tok-b"


def test_direct_calls_and_runs_have_clients_of_their_own() -> None:
    provider = Lazy()
    direct = Kit().direct(provider, config={"token": "direct"})
    assert direct.create({"name": "a"}).outs["token"] == every("direct")
    assert deployed(provider, "run") == every("run")
    assert direct.create({"name": "a"}).outs["token"] == every("direct")
    other = Kit().direct(provider, config={"token": "other"})
    assert other.create({"name": "a"}).outs["token"] == every("other")


def test_what_a_test_sets_between_direct_calls_stays() -> None:
    provider = Lazy()
    direct = Kit().direct(provider, config={"token": "direct"})
    direct.create({"name": "a"})
    provider.failing = "broken for a test"  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="broken for a test"):
        direct.create({"name": "b"})
    result = Stack(config={"token": "run"}).run("update", lambda: Thing(provider, "a", {"name": "a"}))
    assert "broken for a test" in (result.error or "")


def test_a_place_of_the_language_s_own_is_empty_again_for_the_next_run() -> None:
    class Slotted(Echo):
        __slots__ = ("client", "config")

        def configure(self, req: Any) -> None:
            self.config = req.config

        def create(self, props: dict[str, Any]) -> CreateResult:
            if not hasattr(self, "client"):
                self.client = Client(self.config.get("token"))
            return super().create({**props, "token": self.client.token})

    provider = Slotted()
    assert deployed(provider, "tok-a") == "tok-a"
    assert deployed(provider, "tok-b") == "tok-b"
