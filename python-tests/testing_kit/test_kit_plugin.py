"""The pytest plugin as its users meet it: failures that say what to do, other plugins, debuggers and coverage."""

import re
import textwrap

import pytest
from night import LONG, by_day

pytest_plugins = ["pytester"]

PROVIDER = """
    import pulumi
    import pytest
    from pulumi.dynamic import CreateResult, DiffResult, ReadResult, ResourceProvider, UpdateResult

    class P(ResourceProvider):
        def create(self, props):
            return CreateResult("made", {**props})
"""


def write(pytester: pytest.Pytester, test: str, name: str = "test_it") -> None:
    pytester.makepyfile(**{name: textwrap.dedent(PROVIDER) + textwrap.dedent(test)})


def test_what_is_no_program_is_refused(pytester: pytest.Pytester) -> None:
    write(
        pytester,
        """
        def test_number(maloko):
            maloko.stack(7)

        def test_class(maloko):
            maloko.stack(dict)

        def test_arguments(maloko):
            maloko.stack(lambda size: None)

        def test_inputs(maloko):
            maloko.stack(lambda: None, inputs={"size": 1})

        def test_option(maloko):
            maloko.stack(lambda: None).up(target="b")

        def test_result(maloko):
            maloko.stack(lambda: None).outputs("b")
        """,
    )
    result = pytester.runpytest_inprocess()
    assert result.parseoutcomes() == {"failed": 6}
    result.stdout.fnmatch_lines(
        [
            "*a stack is made of a program function, a class of resources, or a provider; 7 is none of these",
            "*<class 'dict'> is none of these: a provider derives from pulumi.dynamic.ResourceProvider",
            "*wants the argument 'size'; a program is called without any*",
            "*inputs= is for a provider or a class of resources*",
            "*up() has no option 'target'; those that there are: refresh, targets,*",
            "*the state has no resource 'b'; those that it has: none*",
        ]
    )


def test_a_stack_that_outlives_its_test_is_refused(pytester: pytest.Pytester) -> None:
    write(
        pytester,
        """
        kept = []

        def test_first(maloko):
            kept.append(maloko)

        def test_second():
            kept[0].stack(P)
        """,
    )
    result = pytester.runpytest_inprocess()
    assert result.parseoutcomes() == {"passed": 1, "failed": 1}
    result.stdout.fnmatch_lines(["*the test is over, and its kit with it*"])


def test_a_failure_shows_its_evidence(pytester: pytest.Pytester) -> None:
    write(
        pytester,
        """
        def test_it(maloko):
            s = maloko.stack(P, inputs={"size": 1, "key": maloko.Secret("hunter22")})
            s.up(settle=False)
            assert s.outputs("it") == {}
        """,
    )
    result = pytester.runpytest_inprocess()
    result.stdout.fnmatch_lines(
        [
            "*maloko stack 'dev': operations*",
            "up: succeeded",
            "*maloko stack 'dev': provider calls*",
            "create it {'props': {'key': '?secret?', 'size': 1}} -> *",
            "*maloko: run it again with*",
            "pytest 'test_it.py::test_it' --maloko-seed=*",
        ]
    )


def test_what_could_not_be_deleted_fails_the_test(pytester: pytest.Pytester) -> None:
    write(
        pytester,
        """
        class Sticky(P):
            def delete(self, id_, props):
                raise OSError("it sticks")

        def test_it(maloko):
            maloko.stack(Sticky, inputs={}).up()
        """,
    )
    result = pytester.runpytest_inprocess()
    assert result.parseoutcomes() == {"passed": 1, "errors": 1}
    result.stdout.fnmatch_lines(["*could not be torn down; left over: 'it' (*, id 'made').*it sticks*"])
    assert pytester.runpytest_inprocess("--maloko-keep").parseoutcomes() == {"passed": 1}


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_the_seed_gives_the_names(pytester: pytest.Pytester) -> None:
    write(
        pytester,
        """
        class Named(P):
            autoname = "name"

        def test_it(maloko):
            s = maloko.stack(Named, inputs={})
            s.up(settle=False)
            print("NAME", s.outputs("it"))
        """,
    )
    runs = [pytester.runpytest_inprocess("-s", f"--maloko-seed={seed}").stdout.str() for seed in (5, 5, 6)]
    names = [re.findall(r"NAME (.*)", run) for run in runs]
    assert names[0] == names[1]


# In Python alone: pytest and Python's debuggers
@pytest.mark.loads_anew
def test_the_plugin_loads_nothing_until_it_is_used(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_it="""
        import sys

        def test_it():
            assert "maloko.testing.plugin" in sys.modules
            assert "pulumi" not in sys.modules
            assert "maloko.testing._kit" not in sys.modules
            assert "vcr" not in sys.modules
        """
    )
    assert pytester.runpytest_subprocess().parseoutcomes() == {"passed": 1}


# In Python alone: pytest and Python's debuggers
@pytest.mark.nightly
@pytest.mark.usefixtures("only_the_kit")
def test_workers_of_xdist_share_nothing(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_PLUGINS", "maloko.testing.plugin,xdist.plugin")
    write(
        pytester,
        """
        from maloko.testing import crash_everywhere

        @pytest.mark.parametrize("size", range(6))
        def test_it(maloko, size):
            assert maloko.stack(P, inputs={"size": size}).up() == {"it": "create"}

        @crash_everywhere(["kill"])
        def test_crash(maloko):
            maloko.stack(P, inputs={}).up(settle=False)
        """,
    )
    told = []
    for options in (("-n", "2"), (), ("-n", "1"))[: 3 if LONG else 2]:
        result = pytester.runpytest_subprocess("-rA", *options)
        assert set(result.parseoutcomes()) == {"passed"}
        told.append(sorted(line for line in result.outlines if line.startswith("PASSED")))
    # Each crash has an id of its own, which is the same wherever it is run.
    assert all(it == told[0] for it in told)
    assert len(set(told[0])) == len(told[0]) > 10
    assert "PASSED test_it.py::test_crash[kill@before create of it]" in told[0]


# In Python alone: asyncio beside calls that block: in Node everything is awaited
@pytest.mark.usefixtures("only_the_kit")
@pytest.mark.parametrize("plugin", by_day(["asyncio", "anyio", "trio"], lambda plugin, _: plugin != "anyio"))
def test_async_tests_await_the_verbs(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, plugin: str) -> None:
    marker = {"asyncio": "asyncio", "anyio": "anyio", "trio": "anyio"}[plugin]
    backend = "trio" if plugin == "trio" else "asyncio"
    write(
        pytester,
        f"""
        @pytest.fixture
        def anyio_backend():
            return "{backend}"

        class Async(P):
            async def create(self, props):
                return CreateResult("made", props)

        @pytest.mark.{marker}
        async def test_it(maloko):
            s = maloko.stack(Async, inputs={{"size": 1}})
            assert await s.aio.up() == {{"it": "create"}}
            assert await s.aio.preview() == {{}}
        """,
    )
    its_plugin = "pytest_asyncio.plugin" if plugin == "asyncio" else "anyio.pytest_plugin"
    monkeypatch.setenv("PYTEST_PLUGINS", f"maloko.testing.plugin,{its_plugin}")
    assert pytester.runpytest_subprocess().parseoutcomes() == {"passed": 1}


# In Python alone: pytest and Python's debuggers
@pytest.mark.usefixtures("only_the_kit")
def test_crash_tests_do_not_confuse_pytests_percentage(pytester: pytest.Pytester) -> None:
    write(
        pytester,
        """
        from maloko.testing import crash_everywhere

        def test_before():
            pass

        @crash_everywhere(["kill"])
        def test_crash(maloko):
            maloko.stack(P(), inputs={"size": 1}).up()

        def test_after():
            pass
        """,
    )
    for flags in (["-v"], [])[: 2 if LONG else 1]:
        result = pytester.runpytest_subprocess(*flags)
        outcomes = result.parseoutcomes()
        assert outcomes["passed"] > 5, result.outlines
        shown = [int(found[1]) for line in result.outlines if (found := re.search(r"\[ *(\d+)%\]$", line))]
        assert shown, result.outlines
        assert shown == sorted(shown)
        assert shown[-1] == 100
        # Only what has nothing left to do is done: two of three before the last crash.
        assert shown.count(100) == 1, shown
        assert not flags or set(shown) == {33, 66, 100}
