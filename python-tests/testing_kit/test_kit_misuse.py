"""Tests that are wrong: each fails, with a reason that says what to do."""

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from kit import ONLY_THE_KIT

SAMPLES = Path(__file__).parent / "kit_samples" / "misuse.py"

EXPECTED = {
    "an operation is not awaited": ["was never awaited, so that nothing was done: write `await` before it"],
    "an operation begins while another goes on": [
        "preview() was called while another operation on this stack goes on; let that one end first"
    ],
    "a promise is compared with a plan": [
        "was not awaited, so that it cannot be compared: write `await` before it",
    ],
    "something else is compared with a plan": [
        "a plan is compared with a dict of names and actions, as {'b': 'create'}, and not with ['create']"
    ],
    "a plan is not as expected": [
        'a: expected "replace", got "update"',
        'c: expected "create", got "delete"',
        "+ b: update, which is not expected",
        "      n: 1 -> 2",
    ],
    "a provider has no create": ["Empty has no `create`: without one nothing can be made"],
    "what is under test is no program": [
        "a stack is made of a program function, a class of resources, or a provider; 'program' is none of these"
    ],
    "a program never ends": [
        "the program waits for something that never comes: nothing has happened for 0.2 s",
        f"It waits at {SAMPLES}:",
    ],
    "an input never comes": [
        "an input of these resources, or what they depend on, never came: 'b' (pulumi-python:dynamic:Resource)"
    ],
    "a stack is kept": [],
    "a stack is used after its test": [
        "preview() came after the end of the test '",
        "test_a_stack_is_kept', which has torn the stack down",
    ],
    "a failure is not expected": ["RuntimeError: quota"],
    "an object is left in the world": ["objects that no stack knows of are left in the world: 'made'"],
    "a resource cannot be deleted": [
        "could not be torn down; left over: 'b' (pulumi-python:dynamic:Resource, id 'made')",
        "the bucket is not empty",
    ],
}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What pytest tells of each sample, by its title; empty of one that passes."""
    file = tmp_path_factory.mktemp("misuse") / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={file}", str(SAMPLES)]
    done = subprocess.run(command, env={**os.environ, **ONLY_THE_KIT}, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout
    told: dict[str, str] = {}
    for case in ElementTree.parse(file).iter("testcase"):
        title = case.attrib["name"].removeprefix("test_").replace("_", " ")
        wrong = [f"{it.attrib['message']}\n{it.text}" for it in case if it.tag in ("failure", "error")]
        told[title] = told.get(title, "") + "\n".join(wrong)
    return told


def test_a_failure_shows_the_line_of_the_test_and_none_of_the_kit(report: dict[str, str]) -> None:
    for title in ("a failure is not expected", "a program never ends", "an operation begins while another goes on"):
        assert f"{SAMPLES.name}:" in report[title]
        assert re.findall(r"maloko/\S+\.py:\d+", report[title]) == []


def test_nothing_else_happens(report: dict[str, str]) -> None:
    assert report.keys() == EXPECTED.keys()
    assert [title for title, told in report.items() if not told] == ["a stack is kept"]


# In Python alone: pytest and Python's debuggers
@pytest.mark.parametrize("title", EXPECTED)
def test_pytest_reports_it_when(report: dict[str, str], title: str) -> None:
    for part in EXPECTED[title]:
        assert part in report[title]
