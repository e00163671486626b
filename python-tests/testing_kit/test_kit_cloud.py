"""Tests on real clouds: what a killed run has left is known, and is deleted by the next run or by a sweep."""

import textwrap
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.usefixtures("only_the_kit")

CLOUD = """
    import os
    import pathlib
    import pytest
    from pulumi.dynamic import CreateResult, ResourceProvider

    CLOUD = pathlib.Path(__file__).parent / "cloud"

    class P(ResourceProvider):
        def create(self, props):
            CLOUD.mkdir(exist_ok=True)
            (CLOUD / props["name"]).write_text("")
            return CreateResult(props["name"], {**props})

        def delete(self, id_, props):
            if os.environ.get("STICKY"):
                raise OSError("it sticks")
            (CLOUD / id_).unlink(missing_ok=True)

    @pytest.mark.real_cloud
    def test_it(maloko):
        s = maloko.stack(P, inputs={"name": "a", "key": maloko.Secret("hunter22")})
        s.up()
        assert [path.name for path in CLOUD.iterdir()] == ["a"]
        if os.environ.get("DAMAGED"):
            [checkpoint] = (CLOUD.parent / ".maloko-tests").glob("*/state/.pulumi/stacks/*/dev.json")
            checkpoint.write_text("{")
        if os.environ.get("KILLED"):
            os.kill(os.getpid(), 9)
"""


@pytest.fixture
def killed(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A test on a cloud whose run was killed."""
    pytester.makepyfile(test_it=textwrap.dedent(CLOUD))
    monkeypatch.setenv("KILLED", "1")
    assert pytester.runpytest_subprocess().ret == -9
    monkeypatch.delenv("KILLED")
    return pytester


def objects(pytester: pytest.Pytester) -> list[str]:
    return [path.name for path in (pytester.path / "cloud").iterdir()]


def kept(pytester: pytest.Pytester) -> list[str]:
    return [str(path) for path in (pytester.path / ".maloko-tests").glob("*/test.json")]


def test_a_test_that_ends_leaves_nothing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it=textwrap.dedent(CLOUD))
    assert pytester.runpytest_subprocess().parseoutcomes() == {"passed": 1}
    assert objects(pytester) == []
    assert kept(pytester) == []


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_sweep_deletes_what_a_killed_run_left(killed: pytest.Pytester) -> None:
    assert objects(killed) == ["a"]
    for file in (killed.path / ".maloko-tests").rglob("*"):
        assert not file.is_file() or b"hunter22" not in file.read_bytes()
    result = killed.runpytest_subprocess("--maloko-sweep")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["maloko: deleted test_it.py::test_it: 'it' (*, id 'a')"])
    assert objects(killed) == []
    assert kept(killed) == []
    killed.runpytest_subprocess("--maloko-sweep").stdout.fnmatch_lines(["maloko: no run has left anything"])


def test_the_next_run_deletes_what_a_killed_run_left(killed: pytest.Pytester) -> None:
    assert killed.runpytest_subprocess().parseoutcomes() == {"passed": 1}
    assert objects(killed) == []


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
@pytest.mark.nightly
def test_a_page_of_the_ledger_that_cannot_be_read_is_named(killed: pytest.Pytester) -> None:
    [page] = kept(killed)
    Path(page).write_text("{")
    result = killed.runpytest_subprocess("--maloko-sweep")
    assert result.ret != 0
    told = result.stdout.str() + result.stderr.str()
    assert f"{page} is damaged" in told
    assert "look at the state beside it with maloko, and remove it" in told
    assert objects(killed) == ["a"]


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
@pytest.mark.nightly
def test_what_cannot_be_swept_is_named(killed: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STICKY", "1")
    result = killed.runpytest_subprocess("--maloko-sweep")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["maloko: NOT DELETED test_it.py::test_it: *left over: 'it' (*, id 'a').*it sticks*"])
    result.stdout.no_fnmatch_line("maloko: deleted *")
    assert len(kept(killed)) == 1


# In Python alone: what a test has made is kept in a store of Python's kit, and on one page of Node's
@pytest.mark.nightly
def test_why_a_test_cannot_be_torn_down_is_told(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytester.makepyfile(test_it=textwrap.dedent(CLOUD))
    monkeypatch.setenv("DAMAGED", "1")
    result = pytester.runpytest_subprocess()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*the stack 'dev' could not be torn down: *dev.json*"])
    assert len(kept(pytester)) == 1


def test_what_a_run_has_made_can_be_kept(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it=textwrap.dedent(CLOUD))
    assert pytester.runpytest_subprocess("--maloko-keep").parseoutcomes() == {"passed": 1}
    assert objects(pytester) == ["a"]
    assert pytester.runpytest_subprocess("--maloko-sweep").ret == 0
    assert objects(pytester) == []
