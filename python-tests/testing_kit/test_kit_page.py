"""The page of a failed test's last run (`pytest --maloko-page DIR`)."""

import re
from xml.etree import ElementTree

import pytest
from pages import data_of

pytest_plugins = ["pytester"]

TESTS = """
import pytest
from pulumi.dynamic import CreateResult, Resource, ResourceProvider, UpdateResult

class Boxes(ResourceProvider):
    def create(self, props):
        if props["size"] == 7:
            raise OverflowError("no room for hunter22")
        return CreateResult("made", props)

    def update(self, id_, olds, news):
        return UpdateResult(news)

def test_passes(maloko):
    maloko.stack(Boxes, inputs={"size": 1}).up()

@pytest.mark.parametrize("size", [7])
def test_fails(maloko, size):
    maloko.stack(Boxes, inputs={"size": size, "token": maloko.Secret("hunter22")}).up()

def test_expects_another(maloko):
    s = maloko.stack(Boxes, inputs={"size": 1})
    s.up()
    s.set(size=2)
    s.up()
    assert s.outputs("it")["size"] == 3

def test_runs_nothing(maloko):
    raise LookupError("before any run")
"""


def test_a_failed_test_leaves_the_page_of_its_last_run(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it=TESTS)
    result = pytester.runpytest_inprocess("--maloko-page", "pages", "--junitxml", "junit.xml")
    assert result.parseoutcomes() == {"passed": 1, "failed": 3}
    pages = {file.name: file for file in (pytester.path / "pages").iterdir()}
    assert set(pages) == {"test_it.py_test_fails_7.html", "test_it.py_test_expects_another.html"}
    failed = pages["test_it.py_test_fails_7.html"].read_text()
    run = data_of(failed)["run"]
    assert (run["kind"], run["outcome"]) == ("update", "failed")
    assert any("no room" in call.get("error", "") for call in run["activities"])
    assert "hunter22" not in failed
    # Neither the previews that look whether the stack settles, nor the destroy at the end.
    data = data_of(pages["test_it.py_test_expects_another.html"].read_text())
    assert (data["run"]["kind"], data["run"]["outcome"]) == ("update", "succeeded")
    assert "update" in data["run"]["changes"]
    # The failure says where it is, and so does the file for CI.
    told = re.findall(r"-+ maloko: the page of the last run -+\n(.*)", result.stdout.str())
    assert sorted(told) == sorted(map(str, pages.values()))
    attached = {
        case.get("name"): [found.get("value") for found in case.iter("property") if found.get("name") == "maloko_page"]
        for case in ElementTree.parse(pytester.path / "junit.xml").iter("testcase")
    }
    assert attached == {
        "test_passes": [],
        "test_fails[7]": [str(pages["test_it.py_test_fails_7.html"])],
        "test_expects_another": [str(pages["test_it.py_test_expects_another.html"])],
        "test_runs_nothing": [],
    }


def test_nothing_is_noted_for_a_page_that_nobody_asks_for(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_it="""
from pulumi.dynamic import CreateResult, ResourceProvider

class Boxes(ResourceProvider):
    def create(self, props):
        return CreateResult("made", props)

def test_it(maloko):
    s = maloko.stack(Boxes, inputs={"size": 1})
    s.up()
    assert maloko.record is None
    assert all(run._record is None for run in s.runs)
    raise LookupError("it fails")
"""
    )
    result = pytester.runpytest_inprocess()
    result.stdout.fnmatch_lines(["*LookupError: it fails*"])
    result.stdout.no_fnmatch_line("*page of the last run*")
    assert list(pytester.path.rglob("*.html")) == []
