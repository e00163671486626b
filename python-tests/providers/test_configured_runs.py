"""What `configure` sets on a provider object belongs to one run: the runs of a process share its objects, not what they
set."""

import asyncio
import json
import random
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pulumi
import pytest
from automation_kit import placed
from kit import Echo, Thing, nothing
from night import rounds
from pulumi.dynamic import CreateResult, ResourceProvider, UpdateResult
from runs_at_once import another_run
from stacks import Stack

import maloko
from maloko import automation as auto
from maloko.testing import Kit

STACKS = rounds(6, 50)
RESOURCES = 20
RUNS = rounds(20, 200)
SEEDS = rounds(3, 20)


class Tenant(Echo):
    """Keeps what it was configured with in every way that a provider may."""

    def __init__(self, region: str = "north") -> None:
        self.region = region
        self.headers: dict[str, str] = {"agent": "test"}
        self.hosts: list[str] = []
        self.made: list[str] = []

    async def configure(self, req: Any) -> None:
        token = req.config.get("token")
        await asyncio.sleep(0)
        self.lock = threading.Lock()
        if token is not None:
            self.token = token
            self.headers["authorization"] = f"Bearer {token}"
            self.hosts.append(f"{token}.example.org")

    def seen(self) -> list[str]:
        return [getattr(self, "token", "none"), self.headers.get("authorization", "none"), *self.hosts]

    def create(self, props: dict[str, Any]) -> CreateResult:
        self.made.append(props["name"])
        return CreateResult(props["name"], {**props, "seen": self.seen()})

    def update(self, _id: str, _olds: dict[str, Any], news: dict[str, Any]) -> UpdateResult:
        return UpdateResult({**news, "seen": self.seen()})

    def delete(self, _id: str, props: dict[str, Any]) -> None:
        if props["seen"] != self.seen():
            raise AssertionError(f"made with {props['seen']}, deleted with {self.seen()}")


PROVIDER = Tenant()


def of(token: str) -> list[str]:
    return [token, f"Bearer {token}", f"{token}.example.org"]


def test_what_configure_sets_belongs_to_one_run(tmp_path: Path) -> None:
    meeting = threading.Barrier(STACKS)

    def program() -> None:
        meeting.wait(240)
        things = [
            Thing(PROVIDER, f"thing-{n}", {"name": f"thing-{n}", "seen": None}, pulumi.ResourceOptions())
            for n in range(RESOURCES)
        ]
        pulumi.export("seen", [thing.seen for thing in things])

    def work(number: int) -> list[Any]:
        options = placed(tmp_path, work_dir=str(tmp_path / f"work-{number}"))
        stack = auto.create_stack(f"stack-{number}", "project", program, opts=options)
        stack.set_config("token", auto.ConfigValue(f"hush-{number}-end", secret=True))
        return list(stack.up(parallel=RESOURCES).outputs["seen"].value)

    with ThreadPoolExecutor(STACKS) as pool:
        seen = list(pool.map(work, range(STACKS)))
    assert seen == [[of(f"hush-{number}-end")] * RESOURCES for number in range(STACKS)]


def test_runs_one_after_the_other_leave_nothing_of_a_configuration_in_a_state(tmp_path: Path) -> None:
    provider = Tenant()

    def program() -> None:
        Thing(provider, "thing", {"name": "thing"})

    for number in range(RUNS):
        token = f"hush-{number}-end" if number % 2 == 0 else None
        stack = Stack(name=f"stack-{number}", secrets={} if token is None else {"token": token})
        stack.up(program)
        text = json.dumps(stack.export())
        resource = stack.resources()["thing"]
        assert resource["outputs"]["seen"] == (["none", "none"] if token is None else of(token))
        del resource["outputs"]
        assert "hush-" not in json.dumps(resource), resource
        assert set(re.findall(r"hush-\d+-end", text)) <= {token}
        stack.destroy(nothing)
        assert stack.resources() == {}
    # What had a value before is the object's own, whatever methods other than `configure` make of it.
    assert provider.made == ["thing"] * RUNS
    options = placed(tmp_path)
    for number in range(4):
        kept = auto.create_stack(f"s{number}", "project", program, opts=options)
        kept.set_config("token", auto.ConfigValue(f"hush-{number}-end", secret=True))
        kept.up()
        text = json.dumps(kept.export_stack().deployment)
        assert "hush" in text
        assert set(re.findall(r"hush-\d+-end", text)) == {f"hush-{number}-end"}


SHARED = Tenant("south")


def _stack(kit: Kit, token: str | None) -> Any:
    secrets = {} if token is None else {"token": token}
    return kit.stack(lambda: Thing(SHARED, "thing", {"name": "thing"}), config={}, secrets=secrets)


def _deploys(kit: Kit, token: str | None) -> None:
    stack = _stack(kit, token)
    stack.up()
    assert stack.outputs("thing")["seen"] == (["none", "none"] if token is None else of(token))


def _deletes(kit: Kit) -> None:
    stack = _stack(kit, "deleting")
    stack.up()
    stack.program = nothing
    stack.up()


def _is_called_directly(kit: Kit) -> None:
    direct = kit.direct(SHARED, config={"token": "direct"})
    assert direct.create({"name": "thing"}).outs["seen"] == of("direct")


def test_every_order_of_a_kits_tests_passes() -> None:
    tests = [
        lambda kit: _deploys(kit, "first"),
        lambda kit: _deploys(kit, None),
        lambda kit: _deploys(kit, "second"),
        _deletes,
        _is_called_directly,
        lambda kit: _deploys(kit, "third"),
    ]
    for seed in range(SEEDS):
        order = random.Random(seed).sample(tests, len(tests))
        for test in order:
            kit = Kit()
            test(kit)
            assert kit.close() == [], seed


TOKEN = ""
SETTINGS: dict[str, str] = {}


class Assigning(Echo):
    def configure(self, req: Any) -> None:
        global TOKEN
        TOKEN = req.config.get("token")


class Filling(Echo):
    def configure(self, req: Any) -> None:
        SETTINGS["token"] = req.config.get("token")


class OnItsClass(Echo):
    token = ""

    def configure(self, req: Any) -> None:
        self._set(req.config.get("token"))

    def _set(self, token: str) -> None:
        type(self).token = token


class InItsClass(Echo):
    headers: dict[str, str] = {}  # noqa: RUF012 the mistake

    def configure(self, req: Any) -> None:
        self.headers["token"] = req.config.get("token")


class InAModule(Echo):
    def configure(self, req: Any) -> None:
        maloko.token = req.config.get("token")  # type: ignore[attr-defined]


class Client:
    token = ""


class WithClient(Echo):
    def __init__(self) -> None:
        self.client = Client()

    def configure(self, req: Any) -> None:
        self.client.token = req.config.get("token")


class Limits(NamedTuple):
    hosts: list[str]


class WithRecord(Echo):
    def __init__(self) -> None:
        self.limits = Limits([])

    def configure(self, req: Any) -> None:
        self.limits.hosts.append(req.config.get("token"))


class WithMethod(Echo):
    def __init__(self) -> None:
        self.sign = self._sign

    def _sign(self) -> None:
        pass

    def configure(self, req: Any) -> None:
        self.token = req.config.get("token")


class WithFunction(Echo):
    def __init__(self, _name: str = "") -> None:
        self.sign = lambda: self

    def configure(self, req: Any) -> None:
        self.token = req.config.get("token")


class WithState(Echo):
    def __getstate__(self) -> dict[str, Any]:
        return {}

    def configure(self, req: Any) -> None:
        self.token = req.config.get("token")


def _closed_over() -> ResourceProvider:
    token = ""

    class Closing(Echo):
        def configure(self, req: Any) -> None:
            nonlocal token
            token = req.config.get("token")

    return Closing()


REFUSED = [
    (Assigning, "its `configure` sets the variable 'TOKEN'"),
    (_closed_over, "its `configure` sets the variable 'token'"),
    (Filling, "its `configure` sets something in `SETTINGS`"),
    (OnItsClass, "its `configure` sets an attribute of its class"),
    (InItsClass, "its `configure` sets something in 'headers' of its class"),
    (InAModule, "its `configure` sets something in `maloko`"),
    (WithClient, "its attribute 'client' holds a Client that was made before `configure`"),
    (WithRecord, "its attribute 'limits' holds a list inside of a Limits"),
    (WithMethod, "its attribute 'sign' is a method of an object"),
    (WithFunction, "its attribute 'sign' is a function that uses the object"),
    (WithState, "its class has a `__getstate__`"),
]


@pytest.mark.parametrize(("make", "reason"), REFUSED, ids=[make.__name__ for make, _ in REFUSED])
def test_a_run_that_can_have_no_provider_of_its_own_is_refused(make: Any, reason: str, stack: Stack) -> None:
    provider = make()

    def program() -> None:
        Thing(provider, "a", {"name": "a"})

    with another_run(provider, token="first"):
        stack.config["token"] = "second"
        result = stack.run("update", program)
        assert result.outcome == "failed"
        assert reason in (result.error or "")
        assert type(provider).__qualname__ in (result.error or "")
        assert "Ways out: " in (result.error or "")
        assert len((result.error or "").splitlines()) <= 3
    # Behind the other run it is free again.
    assert stack.run("update", program).outcome == "succeeded"


def test_what_runs_may_have_in_common_is_no_reason_to_refuse(stack: Stack) -> None:
    class Common(Tenant):
        configured = 0

        def __init__(self) -> None:
            super().__init__()
            self.guard = threading.Lock()
            self.kind = Tenant
            self.path = Path("there")
            self.pair = (1, "two")

        async def configure(self, req: Any) -> None:
            Common.configured += 1
            CONFIGURED.append("configured")
            with self.guard:
                await super().configure(req)

    provider = Common()
    with another_run(provider, token="first"):
        stack.config["token"] = "second"
        stack.up(lambda: Thing(provider, "a", {"name": "a"}))
        assert stack.resources()["a"]["outputs"]["seen"] == of("second")
    assert provider.made == ["first"]
    assert provider.token == "first"


CONFIGURED: list[str] = []


def test_a_factory_makes_the_object_of_a_second_run(stack: Stack) -> None:
    made: list[WithClient] = []

    def make(_attributes: dict[str, Any]) -> WithClient:
        made.append(WithClient())
        return made[-1]

    maloko.register_provider(WithClient, make)
    provider = WithClient()
    with another_run(provider, token="first"):
        stack.config["token"] = "second"
        stack.up(lambda: Thing(provider, "a", {"name": "a"}))
    assert [provider.client.token, *[it.client.token for it in made]] == ["first", "second"]


def test_what_a_program_registers_by_hand_counts_for_its_own_run_first() -> None:
    made: list[tuple[str, str]] = []
    meeting = threading.Barrier(2)

    class Local(Echo):
        token = ""

        def delete(self, _id: str, props: dict[str, Any]) -> None:
            made.append((props["stack"], self.token))

    def deploy(name: str) -> None:
        def register() -> None:
            def make(_attributes: dict[str, Any]) -> Local:
                local = Local()
                local.token = f"token of {name}"
                return local

            maloko.register_provider(Local, make)
            meeting.wait(60)

        stack = Stack(name=name)
        stack.up(lambda: Thing(Local(), "a", {"stack": name}))
        stack.up(register)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(deploy, ["one", "two"]))
    assert sorted(made) == [("one", "token of one"), ("two", "token of two")]


class Assigned(ResourceProvider):
    def __init__(self) -> None:
        def create(props: dict[str, Any]) -> CreateResult:
            return CreateResult("made", {**props, "token": self.token})

        self.token = ""
        self.create = create  # type: ignore[method-assign]

    def configure(self, req: Any) -> None:
        self.token = req.config.get("token")


def test_an_object_whose_constructor_makes_its_methods_is_made_again_for_a_second_run(stack: Stack) -> None:
    provider = Assigned()
    with another_run(provider, token="first"):
        stack.config["token"] = "second"
        stack.up(lambda: Thing(provider, "a"))
        assert stack.resources()["a"]["outputs"]["token"] == "second"


def test_the_object_of_the_program_is_called_when_one_run_at_a_time_uses_it(stack: Stack) -> None:
    class Counting(Echo):
        def __init__(self) -> None:
            self.configured = 0
            self.log: list[str] = []

        def configure(self, req: Any) -> None:
            self.configured += 1
            self.log.append("configure")
            self.token = req.config.require("token")

        def create(self, props: dict[str, Any]) -> CreateResult:
            self.log.append(f"create {self.token}")
            return super().create(props)

    provider = Counting()
    for token in ("first", "second"):
        one = Stack(config={"token": token})
        one.up(lambda: Thing(provider, "a"))
        assert provider.token == token
    assert provider.configured == 2
    assert provider.log == ["configure", "create first", "configure", "create second"]


def test_what_the_program_sets_between_runs_counts(stack: Stack) -> None:
    provider = Tenant()
    stack.up(lambda: Thing(provider, "a", {"name": "a"}))
    provider.region = "east"
    stack.up(lambda: Thing(provider, "b", {"name": "b"}))
    kept = str(stack.resources()["b"]["inputs"]["__provider"]).replace("\\", "")
    assert '"region":"east"' in kept


def test_a_run_lets_go_of_its_providers_however_it_ends() -> None:
    provider = Tenant()

    class Failing(Echo):
        def create(self, props: dict[str, Any]) -> CreateResult:
            raise ValueError("no")

    def fails() -> None:
        Thing(Failing(), "b", {"a": Thing(provider, "a", {"name": "a"}).id})

    def raises() -> None:
        Thing(provider, "a", {"name": "a"})
        raise ValueError("no")

    for number, program in enumerate([fails, raises, lambda: Thing(provider, "a", {"name": "a"})]):
        result = Stack(config={"token": f"t{number}"}).run("update", program)
        assert result.outcome == ("succeeded" if number == 2 else "failed")
    assert provider.made == ["a", "a", "a"]
    assert provider.token == "t2"


def test_a_method_that_was_given_up_keeps_its_object() -> None:
    on = threading.Event()

    class Hanging(Tenant):
        hangs = True

        def create(self, props: dict[str, Any]) -> CreateResult:
            if self.hangs and not props["name"].startswith("b"):
                assert on.wait(60)
            return super().create(props)

    provider = Hanging()
    before = {thread for thread in threading.enumerate() if thread.name == "maloko-worker"}
    stack = Stack(config={"token": "first", "maloko:callLimit": "3s"})
    result = stack.run("update", lambda: Thing(provider, "a", {"name": "a"}))
    assert "was given up" in (result.error or "")
    # It still runs with what it was configured with.
    other = Stack(config={"token": "second"})
    other.up(lambda: Thing(provider, "b", {"name": "b"}))
    assert other.resources()["b"]["outputs"]["seen"] == of("second")
    assert provider.token == "first"
    on.set()
    for thread in threading.enumerate():
        if thread.name == "maloko-worker" and thread not in before:
            thread.join(60)
    provider.hangs = False
    Stack(config={"token": "third"}).up(lambda: Thing(provider, "c", {"name": "c"}))
    assert (provider.token, provider.made) == ("third", ["a", "c"])
