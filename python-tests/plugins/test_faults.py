"""Plugins that are cut off in a call, that look whether the engine is gone, or whose answers nobody can read.

Nothing that they made is lost.
"""

import json
import os
import sys
from pathlib import Path

import pytest
from cli import Project
from night import by_day

PLUGINS = Path(__file__).parents[2] / "conformance" / "plugins" / "plugins"

PROGRAM = """
import json, os
import pulumi

class Thing(pulumi.CustomResource):
    def __init__(self, name, props):
        super().__init__("probe:index:Thing", name, {"url": None, **props})

Thing("thing", {"text": "a", **json.loads(os.environ.get("INPUTS", "{}"))})
"""

UP = ("up", "--yes", "--skip-preview")
REFRESH = ("refresh", "--yes", "--skip-preview")
DESTROY = ("destroy", "--yes", "--skip-preview")
CHANGED = json.dumps({"text": "b"})
# The command in which a method is called first, by what has to be there before.
NEW = ("Handshake", "GetPluginInfo", "CheckConfig", "Configure", "Check", "Create")
CALLS = {
    **dict.fromkeys(NEW, UP),
    **dict.fromkeys(("DiffConfig", "Diff", "Update"), UP),
    "Read": REFRESH,
    "Delete": DESTROY,
    "Cancel": DESTROY,
}
POINTS = ("request", "answer", "end")
TOO_DEEP = (
    "the answer to Create cannot be read: property 'deep' is nested too deeply: values may hold 100 levels of objects "
    "and lists; have the provider return it flatter"
)


SAMPLE = [
    ("Create", "answer"),
    ("Update", "answer"),
    ("Delete", "answer"),
]
"""One point at the start and in each kind of step; what changes something is cut off once it has.

At night all methods and points."""


class Cut:
    """A project with one resource of a plugin behind a proxy that cuts it off, and the resource's outside world."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.directory / "world"
        self.world.mkdir()
        project.write("__main__.py", PROGRAM)
        command = f'"{sys.executable}" "{PLUGINS}/cut.py" "{sys.executable}" "{PLUGINS}/probe.py"'
        project.write("bin/pulumi-resource-probe", f'#!/bin/sh\nexec {command} "$@"\n').chmod(0o755)
        project.environment |= {
            "PATH": f"{project.directory}/bin:{os.environ['PATH']}",
            "PROBE_WORLD": str(self.world),
        }

    def objects(self) -> dict[str, str]:
        """The texts of the objects outside, by id."""
        return {path.stem: json.loads(path.read_text())["text"] for path in self.world.iterdir()}

    def known(self) -> tuple[set[str], bool]:
        """The ids in the state, and whether it says that there may be more."""
        deployment = json.loads(self.project.run("stack", "export").stdout)["deployment"]
        things = [resource for resource in deployment.get("resources", []) if resource["type"] == "probe:index:Thing"]
        is_open = "unresolved create" in self.project.run("stack").stdout or bool(deployment.get("pending_operations"))
        return {resource["id"] for resource in things}, is_open


@pytest.fixture
def cut(project: Project) -> Cut:
    return Cut(project)


@pytest.mark.parametrize(
    ("method", "point"),
    [
        it if it in SAMPLE else pytest.param(*it, marks=pytest.mark.nightly)
        for it in ((method, point) for method in CALLS for point in POINTS)
    ],
)
def test_a_plugin_that_is_cut_off_in_a_call_loses_nothing(cut: Cut, method: str, point: str) -> None:
    project, command = cut.project, CALLS[method]
    if method not in NEW:
        project.run(*UP)
    before = cut.objects()
    changed = "{}" if method in NEW else CHANGED
    project.run(*command, code=None, CUT=f"{method}:{point}", INPUTS=changed)
    ids, is_open = cut.known()
    assert set(cut.objects()) <= ids or is_open, "an object outside is known to nobody"
    if method == "Delete" and point != "request":
        assert cut.objects() == {}
    elif method not in ("Create", "Cancel"):
        assert set(before) <= set(cut.objects())
    project.run(*UP, INPUTS=CHANGED)
    assert cut.objects() == {"here-thing": "b"}
    assert cut.known() == ({"here-thing"}, False)
    project.run(*DESTROY)
    assert (cut.objects(), cut.known()) == ({}, (set(), False))


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("garbage", "the answer to Create cannot be read"),
        pytest.param("deep101", TOO_DEEP, marks=pytest.mark.nightly),
        pytest.param("deep2000", TOO_DEEP, marks=pytest.mark.nightly),
        ("signature", "property 'odd': an object with the unknown signature 'nobody knows this'"),
    ],
)
def test_an_answer_that_cannot_be_read_keeps_the_object(cut: Cut, how: str, words: str) -> None:
    said = cut.project.failing(*UP, SPOIL=f"Create:{how}")
    assert words in said
    ids, is_open = cut.known()
    assert cut.objects() == {"here-thing": "a"}
    assert ids == {"here-thing"} or is_open
    cut.project.run(*UP)
    cut.project.run(*DESTROY)
    assert cut.objects() == {}


@pytest.mark.parametrize("levels", by_day([33, 60, 99], lambda levels, _: levels == 99))
def test_an_answer_with_objects_in_objects_is_kept_and_sent_again(cut: Cut, levels: int) -> None:
    spoil = f"Create:deep{levels}"
    cut.project.run(*UP, SPOIL=spoil)
    state = json.loads(cut.project.run("stack", "export").stdout)
    (thing,) = (it for it in state["deployment"]["resources"] if it["type"] == "probe:index:Thing")
    found, value = 0, thing["outputs"]["deep"]
    while isinstance(value, dict):
        found, value = found + 1, value["deep"]
    assert (found, value) == (levels, "text")
    # The plugin refuses a call without them.
    cut.project.run(*DESTROY, SPOIL=spoil)
    assert cut.objects() == {}


def test_members_that_nobody_knows_are_passed_over(cut: Cut) -> None:
    cut.project.run(*UP, SPOIL="Create:field")
    assert cut.known() == ({"here-thing"}, False)


def test_a_plugin_that_asks_whether_the_engine_is_there_goes_on(cut: Cut) -> None:
    cut.project.run(*UP, PROBE_FLAGS="watchEngine", INPUTS=json.dumps({"untilAnswers": 3}))
    assert cut.known() == ({"here-thing"}, False)


def test_a_file_that_is_no_program_is_named(cut: Cut) -> None:
    plugin = cut.project.directory / "bin" / "pulumi-resource-probe"
    plugin.write_bytes(b"\x7fELF\x02\x01\x01\x00 for another machine")
    said = cut.project.failing("preview")
    assert str(plugin) in said
    assert "cannot be started" in said
    plugin.chmod(0o644)
    assert "no resource plugin 'pulumi-resource-probe'" in cut.project.failing("preview")


def test_a_state_without_its_provider_is_refused_before_anything_is_called(cut: Cut) -> None:
    cut.project.run(*UP)
    state = json.loads(cut.project.run("stack", "export").stdout)
    resources = state["deployment"]["resources"]
    state["deployment"]["resources"] = [
        resource for resource in resources if not resource["type"].startswith("pulumi:providers:")
    ]
    file = cut.project.write("state.json", json.dumps(state))
    said = cut.project.failing("stack", "import", "--file", str(file))
    assert "pulumi:providers:probe::default" in said
    assert cut.objects() == {"here-thing": "a"}
    cut.project.run(*DESTROY)
    assert cut.objects() == {}
