"""What `--target` leaves alone, and what is said of it."""

import json
from typing import Any

import pytest
from cli import Project

PROGRAM = """
import json, pathlib
import pulumi
from pulumi.dynamic import CreateResult, ReadResult, Resource, ResourceProvider


class Provider(ResourceProvider):
    def create(self, props):
        return CreateResult("made", props)

    def read(self, id_, props):
        return ReadResult(id_, props)


class Thing(Resource):
    def __init__(self, name, needs=()):
        super().__init__(Provider(), name, {"name": name}, pulumi.ResourceOptions(depends_on=needs))


made = {}
for name, needs in json.loads(pathlib.Path("wanted.json").read_text()).items():
    made[name] = Thing(name, [made[other] for other in needs])
"""
DIRECTLY = ("--yes", "--skip-preview")


def urn(name: str) -> str:
    return f"urn:pulumi:dev::trial::pulumi-python:dynamic:Resource::{name}"


def wants(project: Project, **wanted: list[str]) -> None:
    project.write("wanted.json", json.dumps(wanted))


@pytest.fixture
def things(project: Project) -> Project:
    """A stack with `a`, `b`, which depends on it, and `c`."""
    project.write("__main__.py", PROGRAM)
    wants(project, a=[], b=["a"], c=[])
    project.run("up", *DIRECTLY)
    return project


def told(events: list[dict[str, Any]]) -> tuple[list[str], dict[str, int]]:
    """The steps that were done, as `op name` in alphabetical order, and the summary's counts."""
    steps = [event["resOutputsEvent"]["metadata"] for event in events if "resOutputsEvent" in event]
    counts = next(event["summaryEvent"]["resourceChanges"] for event in events if "summaryEvent" in event)
    return sorted(f"{step['op']} {step['urn'].split('::')[-1]}" for step in steps), counts


def test_in_a_targeted_destroy_the_resources_that_stay_are_told_as_same_and_counted(things: Project) -> None:
    preview = things.run("destroy", "--preview-only", "--target", urn("c")).stdout
    assert "1 to delete" in preview
    assert "3 unchanged" in preview
    steps, counts = told(things.events("destroy", *DIRECTLY, "--target", urn("c")))
    assert steps == ["delete c", "same a", "same b", "same trial-dev"]
    assert counts == {"delete": 1, "same": 3}
    # What an update neither registers nor deletes is told, too.
    wants(things, a=[], d=[])
    steps, counts = told(things.events("up", *DIRECTLY, "--target", urn("d")))
    assert steps == ["create d", "same a", "same b", "same trial-dev"]
    assert counts == {"create": 1, "same": 3}
    steps, counts = told(things.events("destroy", *DIRECTLY, "--exclude", urn("a")))
    assert steps == ["delete b", "delete d", "same a", "same trial-dev"]
    assert counts == {"delete": 2, "same": 2}
    steps, counts = told(things.events("destroy", *DIRECTLY))
    assert counts == {"delete": 2}


def test_a_refresh_of_targets_does_not_tell_of_the_stack(things: Project) -> None:
    assert told(things.events("refresh", *DIRECTLY, "--target", urn("a"))) == (["same a"], {"same": 1})
    steps, _ = told(things.events("refresh", *DIRECTLY, "--exclude", urn("a")))
    assert steps == ["same b", "same c", "same trial-dev"]


def test_refusals_because_of_targets_have_the_words_that_users_search_for(things: Project) -> None:
    said = things.failing("destroy", *DIRECTLY, "--target", urn("a"))
    assert f"Resource '{urn('b')}' will be destroyed but was not specified in --target list" in said
    assert "--target-dependents" in said
    wants(things, a=[], b=["a"], c=[], d=[], e=["d"])
    said = things.failing("up", *DIRECTLY, "--target", urn("e"))
    assert f"Resource '{urn('e')}' depends on '{urn('d')}' which was not specified in --target list" in said
    assert f"add --target '{urn('d')}'" in said
    said = things.failing("up", *DIRECTLY, "--exclude", urn("d"))
    assert f"depends on '{urn('d')}' which was excluded by --exclude" in said
    said = things.failing("up", *DIRECTLY, "--target", urn("nobody"))
    assert f"Target '{urn('nobody')}' could not be found in the stack" in said
