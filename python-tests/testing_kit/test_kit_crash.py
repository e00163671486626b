"""Tests that are cut off at every point."""

import re

import pytest
from kit import Thing
from night import LONG
from shop import Shop

from maloko import MalokoError
from maloko.testing import Kit, crash_everywhere

pytest_plugins = ["pytester"]


@pytest.fixture(autouse=True)
def _empty_shop() -> None:
    Shop.objects.clear()


# By day a tenth of the points, each with every kind.
@crash_everywhere(sample=None if LONG else 5)
def test_nothing_is_lost_wherever_a_run_is_cut_off(maloko: Kit) -> None:
    s = maloko.stack(Shop, inputs={"size": 1})
    s.up()
    s.set(size=2)
    s.up()
    assert list(Shop.objects.values()) == [{"size": 2}]
    s.destroy()
    assert Shop.objects == {}


TEN = """
    from maloko.testing import crash_everywhere
    from pulumi.dynamic import CreateResult, Resource, ResourceProvider

    class Plain(ResourceProvider):
        def create(self, props):
            return CreateResult("made-" + props["name"], props)

    class Item(Resource):
        pass

    def ten():
        for number in range(10):
            Item(Plain(), f"r{number}", {"name": f"r{number}"})

    @crash_everywhere(["kill"])
    def test_ten(maloko):
        s = maloko.stack(ten)
        s.up(settle=False)
        assert len(s.resources()) == 10
        s.destroy()
"""


@pytest.mark.nightly
def test_every_point_of_ten_resources_is_covered(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_ten=TEN)
    result = pytester.runpytest_inprocess("-v")
    labels = re.findall(r"test_ten\[kill@(.*)\] PASSED", result.stdout.str())
    for number in range(10):
        assert labels.count(f"before create of r{number}") == 1
        assert labels.count(f"after create of r{number}") == 1
    assert sum(label.startswith("journal") for label in labels) >= 20
    assert result.parseoutcomes() == {"passed": len(labels) + 1}


# Points are drawn from the seed alone: by day that is a matter of the engine's own tests.
@pytest.mark.nightly
def test_each_run_passes_the_same_points(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_ten=TEN.replace("range(10)", "range(2)").replace("== 10", "== 2"))
    runs = [pytester.runpytest_inprocess("-v").stdout.str() for _ in range(2)]
    first, second = (re.findall(r"test_ten\[kill@(.*)\] PASSED", run) for run in runs)
    assert sorted(first) == sorted(second)
    assert {"before create of r0", "after create of r1", "journal: creating r1", "removal of the journal"} <= {*first}


def test_a_provider_that_makes_an_object_twice_is_found_where_the_answer_is_lost(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_twice="""
        from maloko.testing import crash_everywhere
        from pulumi.dynamic import CreateResult, ResourceProvider

        class Twice(ResourceProvider):
            made = []

            def create(self, props):
                self.made.append(props)
                return CreateResult("made", props)

        @crash_everywhere(["kill"])
        def test_it(maloko):
            Twice.made.clear()
            maloko.stack(Twice, inputs={"size": 1}).up(settle=False)
            assert len(Twice.made) == 1
        """
    )
    shown = pytester.runpytest_inprocess("-v").stdout.str()
    failed = re.findall(r"test_it\[kill@(.*)\] FAILED", shown)
    assert "after create of it" in failed
    assert "before create of it" not in failed


def test_a_failure_runs_again_from_the_line_that_is_printed(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_forgetful="""
        from maloko.testing import crash_everywhere
        from pulumi.dynamic import CreateResult, ResourceProvider

        made = []

        class Forgetful(ResourceProvider):
            def create(self, props):
                made.append(1)
                return CreateResult(str(len(made)), props)

        @crash_everywhere(["raise_after"])
        def test_one_object(maloko):
            made.clear()
            maloko.stack(Forgetful, inputs={}).up(settle=False)
            assert len(made) == 1
        """
    )
    result = pytester.runpytest_inprocess()
    assert result.parseoutcomes()["failed"] == 1
    again = re.search(
        r"^pytest '(test_forgetful.py::test_one_object)' --maloko-seed=(\d+) --maloko-crash='([^']+)'$",
        result.stdout.str(),
        re.MULTILINE,
    )
    assert again is not None
    result = pytester.runpytest_inprocess(again[1], f"--maloko-seed={again[2]}", f"--maloko-crash={again[3]}")
    assert result.parseoutcomes() == {"failed": 1}
    result.stdout.fnmatch_lines(["*cut off: raise_after after create of it*"])


def test_a_test_that_fails_as_it_is_is_not_cut_off(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_wrong="""
        from maloko.testing import crash_everywhere

        @crash_everywhere()
        def test_wrong(maloko):
            assert False
        """
    )
    result = pytester.runpytest_inprocess()
    assert (result.parseoutcomes(), result.ret) == ({"failed": 1}, pytest.ExitCode.TESTS_FAILED)


def test_a_world_that_serves_is_begun_and_ended_with_each_run(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_served="""
        import pytest
        from maloko.testing import crash_everywhere
        from pulumi.dynamic import CreateResult, ResourceProvider

        class World:
            up = False
            begun = []

        class P(ResourceProvider):
            def create(self, props):
                assert World.up
                return CreateResult("one", props)

            def delete(self, id, props):
                assert World.up

        @pytest.fixture
        def world():
            World.up = True
            World.begun.append(1)
            yield World
            World.up = False

        @crash_everywhere(["kill"])
        def test_served(world, maloko):
            maloko.stack(P).up()

        def test_it_has_ended():
            assert not World.up
            assert len(World.begun) > 10
        """
    )
    result = pytester.runpytest_inprocess()
    assert set(result.parseoutcomes()) == {"passed"}


def test_a_point_that_is_not_reached_fails(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_ten=TEN)
    result = pytester.runpytest_inprocess("--maloko-crash=kill@before create of nobody")
    assert result.parseoutcomes() == {"passed": 1, "errors": 1}
    result.stdout.fnmatch_lines(["*the point 'kill@before create of nobody' was not reached*"])


def test_another_word_for_a_crash_is_refused() -> None:
    with pytest.raises(MalokoError, match="'explode' is no kind of crash: there are kill, raise_before"):
        crash_everywhere(["explode"])


def one_thing() -> None:
    Thing(Shop(), "b", {"size": 1})


def test_a_run_that_is_killed_leaves_its_journal(maloko: Kit) -> None:
    s = maloko.stack(one_thing)
    clean = maloko.stack(one_thing)
    assert "after create of b" in [point["label"] for point in clean.run("up")._points]
    run = s._execute("up", {"verb": "up", "preview": False}, {"label": "after create of b", "kind": "kill"})
    assert run.outcome == "crashed"
    assert s._state.stored()[1] is not None
    assert s.resources() == {}
    assert s.up() == {"b": "create"}
    assert len(Shop.objects) == 2  # the other stack's, and one with the same operation key as before the crash
