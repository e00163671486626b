"""The laws of providers. What each catches is data, which test_corpus.py tries."""

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from kit import Thing
from law_breakers import BASELINE, EXAMPLES, Cloud, Good, NewVersion, SeesNoLabel
from night import LONG, rounds
from pulumi.dynamic import CheckResult, ConfigureRequest, CreateResult, DiffResult, ResourceProvider

from maloko import MalokoError
from maloko.testing import Kit, ProviderLaws, Secret

pytest_plugins = ("pytester",)

# How many there are: each is a test.
LAWS = sum(name.startswith("test_l") for name in dir(ProviderLaws))
# What is asked by day of a provider that keeps all of them; none named are all.
SOME = () if LONG else ("L2", "L4", "L11")


class Boxes(ProviderLaws):
    provider: Any = Good
    world = Cloud
    inputs: Any = EXAMPLES
    secret = frozenset({"password"})
    volatile = frozenset({"status"})
    baseline: Any = BASELINE


def test_a_provider_in_memory_that_is_right_keeps_all_laws() -> None:
    class Fewer(Boxes):
        examples = rounds(1, 10)

    verdicts = Fewer.verdicts()
    assert {law: it.text for law, it in verdicts.items() if it.outcome != "holds"} == {}
    assert list(verdicts) == [f"L{number}" for number in range(1, LAWS + 1)]


def test_a_failure_is_shrunk_and_names_the_property() -> None:
    class Laws(ProviderLaws):
        provider, world = SeesNoLabel, Cloud
        secret = frozenset({"password"})
        inputs = st.fixed_dictionaries(
            {
                "material": st.sampled_from(["wood", "steel"]),
                "colour": st.text("ab", min_size=1),
                "label": st.text("xyz"),
                "password": st.just("k"),
            }
        )

    verdict = Laws.verdicts("L4")["L4"]
    assert verdict.outcome == "broken"
    assert "property: label\n" in verdict.text
    assert 'first:    {"colour": "a", "label": "", "material": "wood", "password": "[secret 1]"}' in verdict.text
    assert '"label": "x"' in verdict.text


def test_a_failure_can_be_replayed(pytester: pytest.Pytester) -> None:
    pytester.syspathinsert(Path(__file__).parent)
    pytester.makepyfile(
        test_boxes="""
        from hypothesis import strategies as st
        from law_breakers import Cloud, SeesNoLabel
        from maloko.testing import Kit, ProviderLaws

        class TestBoxes(ProviderLaws):
            provider, world = SeesNoLabel, Cloud
            inputs = st.fixed_dictionaries({"material": st.just("wood"), "colour": COLOUR,
                                            "label": st.text(), "password": st.just("k")})
        """.replace("COLOUR", 'st.text("ab", min_size=1)' if LONG else 'st.just("a")')
    )
    # Without the summary, which says everything once more where CI is set.
    first = pytester.runpytest("-k", "l4_", "-rN", "-p", "no:cacheprovider")
    first.assert_outcomes(failed=1, deselected=LAWS - 1)
    line = next(line.strip() for line in first.outlines if line.strip().startswith("again: "))
    _, _, node, seed = line.replace("'", "").split()
    # It is copied from a terminal.
    assert len(seed) < 40
    again = pytester.runpytest(node, seed, "-rN", "-p", "no:cacheprovider")
    again.assert_outcomes(failed=1)
    told = [line for line in first.outlines if line.strip().startswith(("property:", "first:", "then:", "found:"))]
    assert len(told) == 4
    assert told == [
        line for line in again.outlines if line.strip().startswith(("property:", "first:", "then:", "found:"))
    ]


def test_each_law_is_a_test(pytester: pytest.Pytester) -> None:
    pytester.syspathinsert(Path(__file__).parent)
    pytester.makepyfile(
        test_boxes="""
        from law_breakers import EXAMPLES, Cloud, Good, MakesTwo
        from maloko.testing import Kit, ProviderLaws

        class TestBoxes(ProviderLaws):
            provider, world, inputs = MakesTwo, Cloud, EXAMPLES
            examples = NUMBER
            waive = {"L13": "the service has no idempotency key"}
        """.replace("NUMBER", str(rounds(1, 10)))
    )
    result = pytester.runpytest("-p", "no:cacheprovider")
    result.assert_outcomes(passed=LAWS - 3, skipped=3)
    result.stdout.fnmatch_lines(
        [
            "*TestBoxes: L12 needs `secret`*",
            "*TestBoxes: L13 is waived: the service has no idempotency key",
            "*TestBoxes: L16 needs `baseline`*",
        ]
    )


@dataclass
class Shelf:
    """A world whose objects are seen by whoever prints it."""

    boxes: dict[str, dict[str, Any]] = field(default_factory=dict)
    made: int = 0

    def objects(self) -> dict[str, dict[str, Any]]:
        return self.boxes


@dataclass
class OnShelf(ResourceProvider):
    """Keeps its world in the open, as dataclasses do."""

    shelf: Shelf

    def create(self, props: dict[str, Any]) -> CreateResult:
        self.shelf.made += 1
        self.shelf.boxes[str(self.shelf.made)] = props
        return CreateResult(str(self.shelf.made), props)

    def delete(self, id_: str, _props: dict[str, Any]) -> None:
        self.shelf.boxes.pop(id_, None)


class RemembersAll(OnShelf):
    """Keeps the inputs itself, too."""

    def create(self, props: dict[str, Any]) -> CreateResult:
        self.last = props
        return super().create(props)

    def __repr__(self) -> str:
        return f"RemembersAll({self.shelf}, {self.last})"


def test_l12_leaves_out_what_only_the_world_keeps() -> None:
    class Laws(ProviderLaws):
        provider: Any = OnShelf
        world = Shelf
        inputs = ({"token": "abcdefabcdef"}, {"token": "ghijklghijkl"})
        secret = frozenset({"token"})

    assert Laws.verdicts("L12")["L12"].outcome == "holds"
    assert "abcdefabcdef" in repr(Shelf({"1": {"token": "abcdefabcdef"}}))

    class Leaking(Laws):
        provider = RemembersAll

    assert "RemembersAll(<the world>, {'token': '[secret" in Leaking.verdicts("L12")["L12"].text


def test_findings_of_one_cause_are_told_together(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        from pulumi.dynamic import CreateResult, ReadResult, ResourceProvider
        from maloko.testing import ProviderLaws

        class Forbidden(ResourceProvider):
            def create(self, props):
                return CreateResult("it", props)
            def read(self, id_, props):
                raise PermissionError("403: forbidden")

        class TestForbidden(ProviderLaws):
            provider = Forbidden
            inputs = [{"size": 1}, {"size": 2}]
        """
    )
    result = pytester.runpytest("-k", "l3 or l9 or l15")
    told = "*::TestForbidden: these 3 findings have one cause (L3, L9, L15): PermissionError: 403: forbidden"
    result.stdout.fnmatch_lines([told])


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_waived_law_says_why() -> None:
    class Laws(Boxes):
        waive = {"L13": "the service has no idempotency key"}  # noqa: RUF012

    verdict = Laws.verdicts("L13")["L13"]
    assert (verdict.outcome, verdict.text) == ("waived", "L13 is waived: the service has no idempotency key")


def test_a_waiver_without_a_reason_is_refused() -> None:
    class NoReason(Boxes):
        waive = {"L13": " "}  # noqa: RUF012

    class NoLaw(Boxes):
        waive = {"L99": "there is none"}  # noqa: RUF012

    with pytest.raises(MalokoError, match="gives no reason for L13; write one"):
        NoReason.verdicts()
    with pytest.raises(MalokoError, match="'L99', which is no law; those are L1, L2"):
        NoLaw.verdicts()


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_law_whose_data_is_missing_says_what_it_needs() -> None:
    class Bare(ResourceProvider):
        def create(self, props: dict[str, Any]) -> CreateResult:
            return CreateResult("it", props)

    class Laws(ProviderLaws):
        provider = Bare
        inputs: Any = ({"size": 1}, {"size": 2})

    needs = {law: it.text for law, it in Laws.verdicts().items() if it.outcome == "needs"}
    assert needs["L1"].startswith("L1 needs `check`")
    assert needs["L3"].startswith("L3 needs `read`")
    assert needs["L8"].startswith("L8 needs `read`")
    assert needs["L9"].startswith("L9 needs `read`")
    assert needs["L11"].startswith("L11 needs `world`")
    assert needs["L12"].startswith("L12 needs `secret`")
    assert needs["L13"].startswith("L13 needs `world`")
    assert needs["L16"].startswith("L16 needs `baseline`")

    class Secretless(Laws):
        secret: Any = frozenset()

    assert Secretless.verdicts("L12")["L12"].outcome == "holds"

    class One(Laws):
        inputs: Any = ({"size": 1},)

    class Same(Laws):
        inputs: Any = ({"size": 1}, {"size": 1})

    for laws in (One, Same):
        assert laws.verdicts("L4")["L4"].text.startswith("L4 needs two `inputs` that differ")


def test_settings_that_make_no_sense_are_told() -> None:
    class NoInputs(ProviderLaws):
        provider = Good

    class OddInputs(Boxes):
        inputs = "abc"

    class OneObject(Boxes):
        provider = Good(Cloud())

    class NoWorld(Boxes):
        world: Any = None

    for laws, told in (
        (ProviderLaws, "ProviderLaws has no `provider`"),
        (NoInputs, "has no `inputs`"),
        (OddInputs, "give a list of dicts"),
        (OneObject, "is one object, .* and each example needs one of its own"),
        (NoWorld, "`provider` wants 'cloud', and there is no `world`"),
    ):
        with pytest.raises(MalokoError, match=told):
            laws.verdicts("L2")  # type: ignore[attr-defined]


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_what_was_in_a_shared_world_before_is_not_counted() -> None:
    cloud = Cloud()
    cloud.create({"label": "of somebody else"})

    class Shared:
        def objects(self) -> dict[str, Any]:
            return cloud.boxes

    class Laws(Boxes):
        provider: Any = staticmethod(lambda _world: Good(cloud))
        world: Any = Shared()

    assert {law: Laws.verdicts(law)[law].outcome for law in ("L7", "L13")} == {"L7": "holds", "L13": "holds"}
    assert len(cloud.boxes) == 1


def test_what_a_baseline_recorded_is_what_law_16_reads(tmp_path: Path) -> None:
    kit = Kit("baseline")
    kit.directory = tmp_path
    provider = Good(Cloud())
    s = kit.stack(lambda: Thing(provider, "it", EXAMPLES[0]))
    s.up()
    s.save_baseline("v1.json")
    recorded = {"baseline": tmp_path / "v1.json", "__module__": __name__}
    kept = type("Kept", (Boxes,), recorded).verdicts("L16")["L16"]  # type: ignore[attr-defined]
    assert (kept.outcome, kept.text) == ("holds", "L16 holds: 3 examples")
    lost = type("Lost", (Boxes,), {**recorded, "provider": NewVersion})
    assert lost.verdicts("L16")["L16"].outcome == "broken"  # type: ignore[attr-defined]
    assert kit.close() == []


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_provider_that_refuses_everything_breaks_the_law() -> None:
    class Refusing(ResourceProvider):
        def create(self, props: dict[str, Any]) -> CreateResult:
            raise LookupError(f"no room for {props['size']:g}")

    class Laws(ProviderLaws):
        provider = Refusing
        inputs = ({"size": 1}, {"size": 2})

    verdict = Laws.verdicts("L2")["L2"]
    assert verdict.outcome == "broken"
    assert "Refusing refuses all 2 example inputs" in verdict.text
    assert "LookupError: no room for 1" in verdict.text
    assert isinstance(verdict.error, LookupError)


def test_an_exception_of_the_provider_keeps_its_identity() -> None:
    class Lost(Exception):  # noqa: N818
        pass

    lost = Lost("the connection")

    class Failing(Good):
        def update(self, *_: Any) -> Any:
            raise lost

    class Laws(Boxes):
        provider = Failing

    verdict = Laws.verdicts("L4")["L4"]
    assert verdict.text.startswith("L4 diff and update agree: Failing raised Lost: the connection")
    assert verdict.error is lost


# In Node: examples in a list need no fast-check
def test_examples_in_a_list_need_no_hypothesis(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "hypothesis"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    outcomes = {law: verdict.outcome for law, verdict in Boxes.verdicts(*SOME).items()}
    assert set(outcomes.values()) == {"holds"}


def test_a_connection_while_planning_is_refused_and_told() -> None:
    import socket

    class Connecting(Good):
        def diff(self, id_: str, olds: dict[str, Any], news: dict[str, Any]) -> DiffResult:
            try:
                with socket.create_connection(("192.0.2.1", 80), 1):
                    pass
            except OSError:
                pass
            return super().diff(id_, olds, news)

    class Laws(Boxes):
        provider = Connecting

    verdict = Laws.verdicts("L10")["L10"]
    assert verdict.outcome == "broken"
    assert "expected: no use of the network: it runs in previews, too" in verdict.text
    assert "192.0.2.1" in verdict.text
    assert "maloko" not in repr(socket.getaddrinfo)


def test_the_laws_wait_for_async_methods() -> None:
    class Waiting(Good):
        async def create(self, props: dict[str, Any]) -> CreateResult:  # type: ignore[override]
            return super().create(props)

        async def delete(self, id_: str, props: dict[str, Any]) -> None:  # type: ignore[override]
            super().delete(id_, props)

    class Laws(Boxes):
        provider = Waiting

    assert {law: it.text for law, it in Laws.verdicts(*SOME).items() if it.outcome != "holds"} == {}


def test_check_has_its_configuration_under_the_first_law() -> None:
    class Configured(Good):
        prefix: str | None = None

        def configure(self, req: ConfigureRequest) -> None:
            self.prefix = req.config.get("prefix")
            assert req.config.require("token") == "hush"

        def check(self, olds: dict[str, Any], news: dict[str, Any]) -> CheckResult:
            assert self.prefix is not None, "check came before configure"
            return super().check(olds, news)

    class Laws(Boxes):
        provider: Any = Configured
        config: Any = {"prefix": "team-", "token": Secret("hush")}  # noqa: RUF012

    assert Laws.verdicts("L1")["L1"].outcome == "holds"
