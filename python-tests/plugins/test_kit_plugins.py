"""Real plugins in tests: the kit starts them, and strikes their calls."""

import os
import sys
from pathlib import Path
from typing import Any

import pulumi
import pytest
from night import LONG
from pulumi.dynamic import CreateResult, Resource, ResourceProvider, UpdateResult

from maloko.testing import Kit

pytest_plugins = ("pytester",)

PROBE = Path(__file__).parents[2] / "conformance" / "plugins" / "plugins" / "probe.py"


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """The folder in which the plugin makes its objects."""
    made = tmp_path / "world"
    made.mkdir()
    return made


@pytest.fixture
def probe_on_path(tmp_path: Path, world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "bin" / "pulumi-resource-probe"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{PROBE}" "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("PROBE_WORLD", str(world))


class Greetings(ResourceProvider):
    def create(self, props: dict[str, Any]) -> CreateResult:
        return CreateResult("greeting-1", props)

    def update(self, _id: str, _olds: dict[str, Any], news: dict[str, Any]) -> UpdateResult:
        return UpdateResult(news)


class Greeting(Resource):
    def __init__(self, name: str, pet: Any) -> None:
        super().__init__(Greetings(), name, {"pet": pet})


class Thing(pulumi.CustomResource):
    url: pulumi.Output[str]
    color: pulumi.Output[str]

    def __init__(self, name: str, **props: Any) -> None:
        super().__init__("probe:index:Thing", name, {"url": None, "color": None, **props})


@pytest.mark.usefixtures("probe_on_path")
def test_plugins_run_for_real_where_the_test_says_so(maloko: Kit, world: Path) -> None:
    things: dict[str, Any] = {"size": 1}

    def program() -> None:
        thing = Thing("thing", **things)
        Greeting("greeting", thing.url)
        pulumi.export("sum", pulumi.runtime.invoke("probe:index:add", {"a": 1, "b": 2}).value["sum"])

    s = maloko.stack(program, plugins="real")
    s.up()
    assert s.id("thing") == "here-thing-1"
    assert s.outputs("thing")["color"] == "blue"
    assert s.outputs("greeting")["pet"] == "http://here-thing-1"
    assert s.outputs() == {"sum": 3}
    assert [path.stem for path in world.iterdir()] == ["here-thing-1"]
    things["size"] = 2
    assert s.preview()["thing"].replaces == ["size"]
    s.up()
    s.destroy()
    assert not list(world.iterdir())


@pytest.mark.usefixtures("probe_on_path")
def test_faults_strike_real_plugins(maloko: Kit, world: Path) -> None:
    s = maloko.stack(lambda: Thing("thing", size=1) and None, plugins="real", config={"probe:region": "there"})
    with (
        s.stub(resource="thing", method="create", raises=ConnectionError("cut off"), after=True),
        maloko.fails("thing", method="create", match="cut off"),
    ):
        s.up()
    assert [path.stem for path in world.iterdir()] == ["there-thing-1"]
    s.up()
    assert s.id("thing") == "there-thing-1"


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_plugin_that_is_missing_is_named(maloko: Kit) -> None:
    class Nowhere(pulumi.CustomResource):
        def __init__(self, name: str) -> None:
            super().__init__("nowhere:index:Thing", name, {})

    s = maloko.stack(lambda: Nowhere("thing") and None, plugins="real")
    with maloko.fails(match="nowhere"):
        s.up()


@pytest.mark.nightly
def test_plugins_run_in_all_stacks_where_the_run_says_so(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        import pulumi

        class Nowhere(pulumi.CustomResource):
            def __init__(self, name):
                super().__init__("nowhere:index:Thing", name, {})

        def test_it(maloko):
            maloko.stack(lambda: Nowhere("thing") and None).up()

        def test_its_own_word_counts(maloko):
            maloko.stack(lambda: Nowhere("thing") and None, plugins="stubs").up()
    """)
    pytester.runpytest_subprocess().assert_outcomes(passed=2)
    told = pytester.runpytest_subprocess("--maloko-plugins=real")
    told.assert_outcomes(passed=1, failed=1)
    told.stdout.fnmatch_lines(["*nowhere*"])
    if LONG:
        pytester.makeini("[pytest]\nmaloko_plugins = real\n")
        pytester.runpytest_subprocess().assert_outcomes(passed=1, failed=1)


# In Python alone: in Node a sweep runs the test itself, with the settings of its stacks
@pytest.mark.nightly
@pytest.mark.usefixtures("probe_on_path")
def test_a_sweep_deletes_what_real_plugins_have_made(pytester: pytest.Pytester, world: Path) -> None:
    pytester.makepyfile("""
        import os
        import pulumi
        import pytest

        class Thing(pulumi.CustomResource):
            def __init__(self, name):
                super().__init__("probe:index:Thing", name, {"size": 1})

        @pytest.mark.real_cloud
        def test_it(maloko):
            maloko.stack(lambda: Thing("thing") and None, plugins="real").up()
            os._exit(9)
    """)
    pytester.runpytest_subprocess()
    assert [path.stem for path in world.iterdir()] == ["here-thing-1"]
    pytester.runpytest_subprocess("--maloko-sweep").stdout.fnmatch_lines(["*deleted*thing*here-thing-1*"])
    assert not list(world.iterdir())
