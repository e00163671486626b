"""Stubs, faults and the virtual clock; and a provider without an engine."""

from collections.abc import Callable
from typing import Any

import pulumi
import pytest
from kit import Thing
from pulumi.dynamic import CheckFailure, CheckResult, ConfigureRequest, CreateResult, ResourceProvider, UpdateResult

from maloko import MalokoError
from maloko.testing import BadReturn, Direct, Kit


class Tank(ResourceProvider):
    """A provider that does nothing much."""

    def create(self, props: dict[str, Any]) -> CreateResult:
        return CreateResult("made", dict(props))

    def update(self, _id: str, _olds: dict[str, Any], news: dict[str, Any]) -> UpdateResult:
        return UpdateResult(dict(news))


def tanks(*names: str, opts: pulumi.ResourceOptions | None = None) -> Callable[[], None]:
    def program() -> None:
        for name in names:
            Thing(Tank(), name, {"size": 1}, opts)

    return program


def test_a_method_is_stubbed(maloko: Kit) -> None:
    s = maloko.stack(tanks("a"))
    with s.stub(Tank.create, raises=TimeoutError("no answer")), pytest.raises(TimeoutError, match="no answer"):
        s.up()
    with s.stub(Tank.create, returns=lambda props: CreateResult("stubbed", {**props, "more": True})):
        s.up(settle=False)
    assert s.outputs("a") == {"size": 1, "more": True}
    assert s.id("a") == "stubbed"
    assert s.calls.create["a"].faulted


def test_a_fault_strikes_one_resource_and_one_call(maloko: Kit) -> None:
    s = maloko.stack(tanks("a", "b"))
    with (
        s.stub(resource="b", method="create", raises=OSError("broken")),
        maloko.fails("b", method="create", match="broken"),
    ):
        s.up()
    assert [call.error for call in s.calls.create.all("a")] == [None]
    other = maloko.stack(tanks("a", "b"), parallel=1)
    with other.stub(method="create", nth=2, raises=OSError("broken")), maloko.fails(method="create"):
        other.up()
    assert len(other.resources()) == 1
    other.up()
    assert len(other.resources()) == 2


def test_a_fault_after_the_call_loses_its_answer(maloko: Kit) -> None:
    made: list[str] = []

    class Counting(Tank):
        def create(self, props: dict[str, Any]) -> CreateResult:
            made.append("one")
            return super().create(props)

    s = maloko.stack(Counting, inputs={"size": 1})
    with s.stub(method="create", raises=ConnectionError("reset"), after=True), maloko.fails("it", match="reset"):
        s.up()
    assert made == ["one"]
    assert s.resources() == {}


def test_a_call_that_hangs_is_given_up_by_its_time_limit(maloko: Kit) -> None:
    limits = pulumi.CustomTimeouts(create="10m")
    s = maloko.stack(tanks("a", opts=pulumi.ResourceOptions(custom_timeouts=limits)))
    with s.stub(resource="a", method="create", hang=True), maloko.fails("a", match="took longer than the 600s"):
        s.up()
    assert s.runs[-1].seconds == 600
    assert s.clock.elapsed.total_seconds() == 600


def test_a_call_that_hangs_without_a_limit_ends_with_the_run(maloko: Kit) -> None:
    s = maloko.stack(tanks("a"))
    with s.stub(resource="a", method="create", hang=True):
        run = s.run("up")
    assert run.outcome == "cancelled"
    assert "hung until it was given up" in (run.calls[-1].error or "")


def test_a_delay_passes_on_the_stack_s_clock(maloko: Kit) -> None:
    s = maloko.stack(tanks("a"))
    with s.stub(resource="a", method="create", delay=3600):
        s.up()
    assert s.runs[0].seconds == 3600
    s.clock.advance(days=1, hours=1)
    assert s.clock.elapsed.total_seconds() == 3600 + 25 * 3600


def test_time_that_a_method_lets_pass_ends_it(maloko: Kit) -> None:
    class Slow(Tank):
        def create(self, props: dict[str, Any]) -> CreateResult:
            s.clock.advance(minutes=2)
            return super().create(props)

    limits = pulumi.ResourceOptions(custom_timeouts=pulumi.CustomTimeouts(create="1m"))

    def program() -> None:
        Thing(Slow(), "a", {"size": 1}, limits)

    s = maloko.stack(program)
    with maloko.fails("a", match="took longer than the 60s"):
        s.up()


def test_a_fault_that_makes_no_sense_is_refused(maloko: Kit) -> None:
    s = maloko.stack(tanks("a"))
    with pytest.raises(MalokoError, match="'make' is no method of a provider"):
        s.stub(resource="a", method="make", hang=True)
    with pytest.raises(MalokoError, match="does one thing, and this one has none"):
        s.stub(resource="a", method="create")
    with pytest.raises(MalokoError, match="has hang and delay"):
        s.stub(resource="a", method="create", hang=True, delay=1)
    with pytest.raises(MalokoError, match="the first one is nth=1"):
        s.stub(resource="a", method="create", nth=0, hang=True)
    with pytest.raises(MalokoError, match="'boom' is no exception"):
        s.stub(resource="a", method="create", raises="boom")
    with pytest.raises(MalokoError, match=r"is no method of a provider; write s.stub"):
        s.stub(tanks, raises=OSError())


def test_a_provider_is_called_without_an_engine(maloko: Kit) -> None:
    class Checking(Tank):
        def configure(self, req: ConfigureRequest) -> None:
            self.limit = float(req.config.require("limit"))

        def check(self, _olds: dict[str, Any], news: dict[str, Any]) -> CheckResult:
            failures = [CheckFailure("size", "is too large")] if news["size"] > self.limit else []
            return CheckResult({**news, "unit": "l"}, failures)

        async def read(self, id_: str, props: dict[str, Any]) -> Any:
            from pulumi.dynamic import ReadResult

            return ReadResult(id_, {**props, "level": 3})

    direct = maloko.direct(Checking, config={"limit": "5"})
    assert direct.check({}, {"size": 1}).inputs == {"size": 1, "unit": "l"}
    assert direct.check({}, {"size": 9}).failures == [("size", "is too large")]
    made = direct.create({"size": 1})
    assert (made.id, made.outs) == ("made", {"size": 1})
    assert direct.read("made", made.outs).outs == {"size": 1, "level": 3}
    assert direct.update("made", made.outs, {"size": 2}) == {"size": 2}
    assert direct.diff("made", {"size": 1}, {"size": 2}).changes is None
    direct.delete("made", {})


def test_what_a_method_throws_without_an_engine_is_the_very_object(maloko: Kit) -> None:
    quota = RuntimeError("quota")

    class Full(ResourceProvider):
        async def create(self, _props: dict[str, Any]) -> CreateResult:
            raise quota

    with pytest.raises(RuntimeError) as caught:
        maloko.direct(Full).create({})
    assert caught.value is quota


def test_types_are_those_that_the_engine_hands_over() -> None:
    class Typed(ResourceProvider):
        def create(self, props: dict[str, Any]) -> CreateResult:
            assert isinstance(props["size"], float)
            assert "empty" not in props
            return CreateResult("made", {"tuple": (1, 2), "size": props["size"]})

    made = Direct(Typed).create({"size": 1, "empty": None})
    assert made.outs == {"tuple": [1, 2], "size": 1}


def test_a_result_that_cannot_be_used_is_refused() -> None:
    class Wrong(ResourceProvider):
        def create(self, props: dict[str, Any]) -> Any:
            return CreateResult("made", {"raw": b"bytes"}) if props.get("raw") else {"id": "made"}

    direct = Direct(Wrong)
    with pytest.raises(BadReturn, match="create returned a dict; it must return a CreateResult"):
        direct.create({})
    with pytest.raises(BadReturn, match=r'outs cannot be kept: outs\["raw"\] is a bytes'):
        direct.create({"raw": True})
    with pytest.raises(BadReturn, match="inputs cannot be kept"):
        direct.create({"bad": object()})
