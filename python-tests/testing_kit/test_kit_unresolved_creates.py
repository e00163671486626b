"""Creates that a killed run of a test on a real cloud left open are told until they are settled; and what cannot be
read does not keep a sweep from the rest."""

import re
import subprocess
import textwrap
from pathlib import Path

import pytest
from cli import MALOKO
from night import LONG, by_day

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.usefixtures("only_the_kit")

IT, OTHER, TWO, ALONE = (f"test_it.py::test_{name}" for name in ("it", "other", "two", "alone"))

CLOUD = """
    import os
    import pathlib
    import time
    import pulumi
    import pytest
    from pulumi.dynamic import CreateResult, ReadResult, Resource, ResourceProvider

    CLOUD = pathlib.Path(__file__).parent / "cloud"
    ENDING = os.environ.get("ENDING")

    class P(ResourceProvider):
        def create(self, props):
            CLOUD.mkdir(exist_ok=True)
            last = props["name"] == "third"
            if last and ENDING == "killed before":
                os.kill(os.getpid(), 9)
            (CLOUD / props["name"]).write_text("")
            while ENDING == "killed together" and len(list(CLOUD.iterdir())) < 3:
                time.sleep(0.01)
            if (last and ENDING == "killed") or ENDING == "killed together":
                os.kill(os.getpid(), 9)
            if last and ENDING == "raises":
                raise OSError("no answer")
            if last and ENDING == "rubbish":
                return {props["key"]: object()}
            return CreateResult(props["name"], {**props})

        def delete(self, id_, props):
            (CLOUD / id_).unlink(missing_ok=True)

    class Searching(P):
        def find(self, key, props):
            if os.environ["SEARCHING"] == "fails":
                raise OSError("nobody knows")
            return ReadResult(props["name"], {**props}) if (CLOUD / props["name"]).exists() else None

    class Thing(Resource):
        def __init__(self, name, opts=None):
            provider = Searching() if os.environ.get("SEARCHING") else P()
            super().__init__(provider, name, {"name": name, "key": pulumi.Output.secret("hunter22")}, opts)

    def program():
        made = []
        for name in ("first", "second", "third"):
            options = pulumi.ResourceOptions(depends_on=[] if ENDING == "killed together" else list(made))
            made.append(Thing(name, options))

    @pytest.mark.real_cloud
    def test_it(maloko):
        run = maloko.stack(program).run("up")
        assert run.outcome == ("failed" if ENDING else "succeeded")

    @pytest.mark.real_cloud
    def test_other(maloko):
        maloko.stack(lambda: Thing("other") and None).up()
        if ENDING:
            os.kill(os.getpid(), 9)

    @pytest.mark.real_cloud
    def test_alone(maloko):
        maloko.stack(lambda: Thing("third") and None).run("up")

    @pytest.mark.real_cloud
    def test_two(maloko):
        maloko.stack(lambda: Thing("one") and None).up()
        maloko.stack(lambda: Thing("two") and None).up()
        if ENDING:
            os.kill(os.getpid(), 9)
"""


class Cloud:
    """Tests on a cloud, each run in a process of its own."""

    def __init__(self, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
        self.pytester = pytester
        self.monkeypatch = monkeypatch
        pytester.makepyfile(test_it=textwrap.dedent(CLOUD))

    def run(self, *options: str, ending: str = "") -> tuple[int, str]:
        """The exit code, and what was said."""
        self.monkeypatch.setenv("ENDING", ending)
        result = self.pytester.runpytest_subprocess(*options)
        told = result.stdout.str() + result.stderr.str()
        assert "hunter22" not in told
        assert "INTERNALERROR" not in told
        return int(result.ret), told

    def sweep(self, *options: str) -> tuple[int, str]:
        return self.run("--maloko-sweep", *options)

    def objects(self) -> list[str]:
        return sorted(path.name for path in (self.pytester.path / "cloud").iterdir())

    def kept(self) -> list[Path]:
        return sorted(path.parent for path in (self.pytester.path / ".maloko-tests").glob("*/test.json"))


@pytest.fixture
def cloud(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Cloud:
    """Tests on a cloud."""
    return Cloud(pytester, monkeypatch)


def keys_in(told: str) -> list[str]:
    """The operation keys of the unresolved creates that were named."""
    return list(dict.fromkeys(re.findall(r"operation key ([\w-]+)", told)))


def test_a_create_that_a_killed_run_left_open_is_told_until_it_is_settled(cloud: Cloud) -> None:
    assert cloud.run(IT, ending="killed")[0] == -9
    code, told = cloud.sweep()
    assert code == 1
    deleted = ", ".join(f"'{name}' (pulumi-python:dynamic:Resource, id '{name}')" for name in ("first", "second"))
    assert f"maloko: deleted test_it.py::test_it: {deleted}" in told
    assert "NOT DELETED test_it.py::test_it: these may have been made: 'third' (its create was under" in told
    assert "way when the run ended, begun 2" in told
    assert "urn:pulumi:dev::project::pulumi-python:dynamic:Resource::third" in told
    [key] = keys_in(told)
    assert f"pytest --maloko-sweep '--maloko-forget-unresolved={key}'" in told
    assert cloud.objects() == ["third"]
    # Again, by a sweep, by the next run of the test, and where another one is settled.
    again = (["--maloko-sweep"], [IT], ["--maloko-sweep", "--maloko-forget-unresolved=another"])
    for options in again if LONG else again[1:2]:
        code, told = cloud.run(*options)
        assert (code, keys_in(told)) == (1, [key])
        assert len(cloud.kept()) == 1
    code, told = cloud.sweep(f"--maloko-forget-unresolved=another,{key}")
    assert code == 0
    assert "maloko: forgotten test_it.py::test_it: 'third' (its create was under way" in told
    assert cloud.kept() == []
    assert "no run has left anything" in cloud.sweep()[1]
    assert cloud.run(IT)[0] == 0


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
@pytest.mark.nightly
def test_of_several_unresolved_creates_each_is_settled_by_its_key(cloud: Cloud) -> None:
    assert cloud.run(IT, ending="killed together")[0] == -9
    code, told = cloud.sweep()
    first, second, third = keys_in(told)
    assert code == 1
    assert f"--maloko-forget-unresolved={first},{second},{third}" in told
    code, told = cloud.sweep(f"--maloko-forget-unresolved={second}")
    assert code == 1
    assert keys_in(told) == [second, first, third]
    assert f"--maloko-forget-unresolved={first},{third}'" in told
    assert keys_in(cloud.sweep()[1]) == [first, third]
    assert cloud.sweep("--maloko-forget-unresolved=all")[0] == 0
    assert cloud.kept() == []
    assert cloud.objects() == ["first", "second", "third"]


def test_unresolved_creates_are_forgotten_by_a_sweep_alone(cloud: Cloud) -> None:
    code, told = cloud.run("--maloko-forget-unresolved=all")
    assert code == pytest.ExitCode.USAGE_ERROR
    assert "--maloko-forget-unresolved belongs to --maloko-sweep" in told


def test_a_create_that_raised_has_made_nothing(cloud: Cloud) -> None:
    assert cloud.run(IT, ending="raises")[0] == 0
    assert cloud.kept() == []


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_create_that_ended_unclearly_fails_its_test_and_is_kept(cloud: Cloud) -> None:
    code, told = cloud.run(IT, ending="rubbish")
    assert code == 1
    assert "'third' (its create returned something that cannot be used, begun 2" in told
    assert ", error: " in told
    assert cloud.objects() == ["third"]
    [key] = keys_in(told)
    assert keys_in(cloud.sweep()[1]) == [key]


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
@pytest.mark.nightly
def test_a_create_that_ended_unclearly_is_told_where_nothing_else_was_made(cloud: Cloud) -> None:
    code, told = cloud.run(ALONE, ending="rubbish")
    assert code == 1
    assert "'third' (its create returned something that cannot be used, begun 2" in told
    assert keys_in(cloud.sweep()[1]) == keys_in(told)
    assert len(cloud.kept()) == 1


@pytest.mark.parametrize("ending", by_day(["killed", "killed before"], lambda ending, _: ending == "killed"))
def test_a_create_of_which_find_knows_is_settled(cloud: Cloud, monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
    monkeypatch.setenv("SEARCHING", "1")
    assert cloud.run(IT, ending=ending)[0] == -9
    code, told = cloud.sweep()
    assert code == 0
    assert ("'third' (pulumi-python:dynamic:Resource, id 'third')" in told) == (ending == "killed")
    assert cloud.objects() == []
    assert cloud.kept() == []


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
@pytest.mark.nightly
def test_a_create_of_which_find_cannot_tell_is_left_and_the_error_is_told(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEARCHING", "fails")
    assert cloud.run(ALONE, ending="killed")[0] == -9
    code, told = cloud.sweep()
    assert code == 1
    assert "could not be torn down; left over: nothing in the state. " in told
    assert "nobody knows" in told
    assert "these may have been made: 'third' (its create was under way when the run ended" in told
    assert len(cloud.kept()) == 1


@pytest.mark.nightly
def test_what_cannot_be_read_does_not_keep_a_sweep_from_the_rest(cloud: Cloud) -> None:
    assert cloud.run(IT, ending="killed")[0] == -9
    [damaged] = cloud.kept()
    [journal] = damaged.glob("state/.pulumi/maloko/*/*/journal")
    whole = journal.read_bytes()
    journal.write_bytes(whole.replace(b"first", b"worst", 1))
    assert cloud.run(OTHER, ending="killed")[0] == -9
    assert cloud.objects() == ["first", "other", "second", "third"]
    code, told = cloud.sweep()
    assert code == 1
    assert "maloko: deleted test_it.py::test_other: 'other' (pulumi-python:dynamic:Resource, id 'other')" in told
    assert f"NOT DELETED what a run of the test 'test_it.py::test_it' made is kept in {damaged}, which cannot" in told
    assert f"the journal {journal} of an interrupted run is damaged" in told
    assert cloud.objects() == ["first", "second", "third"]
    assert cloud.kept() == [damaged]
    # So is it by the next run of the test.
    code, told = cloud.run(IT)
    assert code == 1
    assert f"is kept in {damaged}, which cannot be read" in told
    # What the message says about the command line is true; and what could not be read is not forgotten.
    assert f"work on it with `--cwd {damaged} --stack dev`" in told
    command = [*MALOKO, "state", "restore", "--journal", "--yes", "--cwd", str(damaged), "--stack", "dev"]
    subprocess.run(command, check=True, capture_output=True)
    code, told = cloud.sweep()
    [aside] = journal.parent.glob("journal-*")
    assert code == 1
    assert f"the journal {aside} was set aside: look through it for what was made" in told
    aside.unlink()
    assert cloud.sweep()[0] == 0
    assert cloud.kept() == []


def test_each_stack_of_a_test_is_swept_by_itself(cloud: Cloud) -> None:
    assert cloud.run(TWO, ending="killed")[0] == -9
    damaged, _ = cloud.kept()
    [checkpoint] = damaged.glob("state/.pulumi/stacks/*/dev.json")
    checkpoint.write_text("{")
    code, told = cloud.sweep()
    assert code == 1
    assert f"is kept in {damaged}, which cannot be read" in told
    assert len(cloud.objects()) == 1
    assert cloud.kept() == [damaged]
    (damaged / "test.json").write_text("[]")
    code, told = cloud.sweep()
    assert code == 1
    assert f"{damaged / 'test.json'} is damaged" in told
