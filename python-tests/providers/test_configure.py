"""`configure` runs once per object and run, before any other method."""

import threading

import pulumi
from kit import Thing
from pulumi.dynamic import CreateResult, ResourceProvider
from stacks import Stack

from maloko.testing import Direct

calls: list[str] = []
lock = threading.Lock()


class Equal(ResourceProvider):
    def __init__(self, label: str = "same") -> None:
        self.label = label

    def configure(self, req):
        with lock:
            calls.append(f"configure {self.label}")
        self.token = req.config.get("token")

    def create(self, props):
        assert hasattr(self, "token")
        return CreateResult("made", {})


class Client(Equal):
    def __init__(self) -> None:
        super().__init__("client")
        self.client = threading.Lock()


def setup_function() -> None:
    calls.clear()


def test_500_equal_objects_are_configured_once(stack: Stack) -> None:
    stack.up(lambda: [Thing(Equal(), f"r{n}") for n in range(500)])
    assert len(calls) == 1
    assert len(stack.resources()) == 500


def test_500_objects_with_clients_of_their_own_are_configured_500_times(stack: Stack) -> None:
    stack.up(lambda: [Thing(Client(), f"r{n}") for n in range(500)])
    assert len(calls) == 500


def test_one_object_used_before_and_after_its_configure_is_configured_once(stack: Stack) -> None:
    provider = Client()

    def program() -> None:
        first = Thing(provider, "first", {"v": 1})
        Thing(provider, "second", {"v": first.v})

    stack.up(program)
    assert calls == ["configure client"]


def test_configure_runs_in_every_run(stack: Stack) -> None:
    provider = Equal()
    stack.up(lambda: Thing(provider, "a"))
    stack.up(lambda: [Thing(provider, "a"), Thing(provider, "b")])
    assert len(calls) == 2


def test_config_is_read_by_short_and_by_full_keys(stack: Stack) -> None:
    seen = []

    class Reading(ResourceProvider):
        def configure(self, req):
            seen.extend([req.config.get("token"), req.config.get("project:token"), req.config.get("other:key")])
            seen.append(req.config.get("missing"))

        def create(self, props):
            return CreateResult("made", {})

    stack.secrets["token"] = "hush"
    stack.config["other:key"] = "value"
    stack.up(lambda: Thing(Reading(), "a"))
    assert seen == ["hush", "hush", "value", None]


def test_a_missing_required_key_fails_the_resource_and_names_the_key(stack: Stack) -> None:
    class Requiring(ResourceProvider):
        def configure(self, req):
            req.config.require("token")

        def create(self, props):
            raise AssertionError

    result = stack.run("update", lambda: Thing(Requiring(), "a"))
    assert result.outcome == "failed"
    assert "missing required configuration key" in (result.error or "")
    assert "token" in (result.error or "")


def test_configure_runs_in_a_preview_too(stack: Stack) -> None:
    class Checking(Equal):
        def check(self, _olds, news):
            return pulumi.dynamic.CheckResult(news, [])

    stack.preview(lambda: Thing(Checking(), "a"))
    assert len(calls) == 1


def test_what_a_provider_was_configured_with_twice_is_taken_back() -> None:
    found: list[object] = []

    class Noting(Equal):
        def __init__(self) -> None:
            super().__init__()
            self.token = None
            self.clients: list[dict[str, str]] = []

        def configure(self, req):
            found.append((self.token, [*self.clients]))
            self.token = f"{req.config.get('token')} {len(found)}"
            self.clients.append({"token": self.token})

    provider = Noting()
    direct = Direct(provider, config={"token": "first"})
    direct.configure()
    direct.close()
    Direct(provider, config={"token": "other"})
    assert found == [(None, []), ("first 1", [{"token": "first 1"}]), (None, [])]
