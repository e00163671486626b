"""What a run says is read quickly: failures, plans, drift, and what selects resources."""

import re

from cli import Project

FAILING = """
import os
from pulumi.dynamic import CreateResult, Resource, ResourceProvider

def post(path):
    raise RuntimeError(f"HTTP 422 on POST {path}: the quota is used up")

class QueueProvider(ResourceProvider):
    def create(self, props):
        if os.path.exists("healed"):
            return CreateResult(props["name"], props)
        return CreateResult(post("/queues"), props)

class Queue(Resource):
    def __init__(self, name):
        super().__init__(QueueProvider(), name, {"name": name})

if not os.path.exists("gone"):
    for number in range(COUNT):
        Queue(f"queue-{number}")
"""

UP = ("up", "--yes", "--skip-preview", "--stack", "dev")
ERROR = "RuntimeError: HTTP 422 on POST /queues: the quota is used up"
NOTED = re.compile("raised|unresolved|queue", re.IGNORECASE)


def failing(project: Project, count: int) -> list[str]:
    project.write("__main__.py", FAILING.replace("COUNT", str(count)))
    said = project.run(*UP, "--continue-on-error", code=1).stdout
    return said.splitlines()


def noted(text: str) -> list[str]:
    """The lines that tell of creates that failed."""
    return [line for line in text.splitlines() if NOTED.search(line)]


def test_a_failure_reads_in_three_lines(project: Project) -> None:
    said = failing(project, 1)
    first = next(place for place, line in enumerate(said) if line.startswith("! "))
    assert re.fullmatch(rf"! Resource queue-0 failed to create \(.*s\): {ERROR}", said[first])
    assert re.fullmatch(r"    at post \(__main__\.py:\d+\), from create \(__main__\.py:\d+\)", said[first + 1])
    assert "1 create raised" in said[first + 2]
    assert "`maloko stack` shows its error in full" in said[first + 2]
    assert len(noted("\n".join(said))) == 2
    assert ERROR in project.run("stack").stdout
    # The traceback is there for those who want it, and for programs always.
    shown = project.run(*UP, "--show-tracebacks", code=1).stdout
    assert shown.count("Traceback (most recent call last)") == 1
    shown = project.run(*UP, code=1, MALOKO_SHOW_TRACEBACKS="true").stdout
    assert shown.count("Traceback (most recent call last)") == 1
    assert "Traceback (most recent call last)" in project.run(*UP, "--json", code=1).stdout


def test_ten_failures_fit_a_screen(project: Project) -> None:
    said = failing(project, 10)
    assert sum(line.count(ERROR) for line in said) == 10
    assert sum("at post (__main__.py" in line for line in said) == 1
    told = said[: said.index("Resources:")]
    assert sum(-(-max(len(line), 1) // 80) for line in told) <= 30


def test_the_next_run_tells_of_creates_that_raised_in_one_line(project: Project) -> None:
    failing(project, 10)
    said = project.run("preview", "--stack", "dev").stdout
    again = (
        "10 creates that raised in an earlier run are tried again by an update: queue-0, queue-1, queue-2 and 7 more"
    )
    lines = [line for line in noted(said) if not line.startswith("+ ")]
    assert len(lines) == 1
    assert again in lines[0]
    assert "`maloko stack` shows how each failed" in lines[0]
    project.write("healed", "")
    lines = [line for line in noted(project.run(*UP).stdout) if not line.startswith("+ ")]
    assert len(lines) == 1
    assert "10 creates that raised in an earlier run were tried again" in lines[0]


def test_nothing_is_told_of_a_create_that_raised_once_its_resource_has_left_the_program(project: Project) -> None:
    failing(project, 2)
    project.write("gone", "")
    assert noted(project.run("preview", "--stack", "dev").stdout) == []
    assert noted(project.run(*UP).stdout) == []
    # It is not forgotten.
    assert "2 creates raised, which by the SDK's rules made nothing" in project.run("stack").stdout


# Registers its resources in another order each time; the service answers the last one first.
ORDERED = """
import os, threading
import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider

group = pulumi.ComponentResource("demo:index:Group", "group")
things = [(f"thing-{number}", None) for number in range(12)] + [("z", group), ("a", group)]
first = 5 * int(os.environ["TURN"])
things = things[first:] + things[:first]
unanswered = [name for name, _ in things]
answered = threading.Condition()

class ThingProvider(ResourceProvider):
    def check(self, olds, news):
        with answered:
            assert answered.wait_for(lambda: unanswered[-1] == news["name"], 60)
            unanswered.pop()
            answered.notify_all()
        return super().check(olds, news)

    def create(self, props):
        return CreateResult(props["name"], props)

class Thing(Resource):
    def __init__(self, name, opts=None):
        super().__init__(ThingProvider(), name, {"name": name}, opts)

for name, parent in things:
    Thing(name, pulumi.ResourceOptions(parent=parent))
"""


def test_text_previews_list_in_one_order_that_never_varies(project: Project) -> None:
    project.write("__main__.py", ORDERED)
    expected = ["trial-dev", "group", "a", "z", *(f"thing-{number}" for number in range(12))]
    files = set()
    for turn in range(3):
        preview = ("preview", "--stack", "dev", "--parallel", "20", "--import-file", "new.json")
        said = project.run(*preview, TURN=str(turn)).stdout
        assert [line.split()[2] for line in said.splitlines() if line.startswith("+ ")] == expected
        files.add((project.directory / "new.json").read_text())
    assert len(files) == 1


CHANGING = """
import json, os
import pulumi
from pulumi.dynamic import CreateResult, DiffResult, ReadResult, Resource, ResourceProvider, UpdateResult

def world():
    return json.load(open("world.json")) if os.path.exists("world.json") else {}

class ThingProvider(ResourceProvider):
    def create(self, props):
        return CreateResult(props["name"], {**props, "tag": props["zone"]})

    def diff(self, _id, olds, news):
        changed = [key for key in ("zone", "size") if olds.get(key) != news.get(key)]
        return DiffResult(bool(changed), replaces=[key for key in changed if key == "zone"])

    def update(self, _id, _olds, news):
        return UpdateResult({**news, "tag": news["zone"]})

    def read(self, id_, props):
        return ReadResult(id_, {**props, **world().get(id_, {})})

class Thing(Resource):
    tag: pulumi.Output[str]
    def __init__(self, name, zone, size="s", opts=None):
        super().__init__(ThingProvider(), name, {"name": name, "zone": zone, "size": size, "tag": None}, opts)

PROGRAM
"""


def changing(project: Project, program: str) -> None:
    project.write("__main__.py", CHANGING.replace("PROGRAM", program))


def test_preview_refresh_separates_drift_from_plan(project: Project) -> None:
    changing(project, 'Thing("a", "x"); Thing("b", "x")')
    project.run(*UP)
    project.write("world.json", '{"a": {"size": "l"}}')
    changing(project, 'Thing("a", "x"); Thing("b", "x", "m")')
    for heading, command in (("Plan:", ("preview", "--refresh", "--stack", "dev")), ("Update:", (*UP, "--refresh"))):
        lines = project.run(*command).stdout.splitlines()
        drift = next(place for place, line in enumerate(lines) if line.startswith("Drift found by refreshing,"))
        plan = lines.index(heading)
        assert drift < plan
        assert any(line.startswith("~ Resource a changed") for line in lines[drift:plan])
        assert not any("Resource b" in line for line in lines[drift:plan])
        assert any(line.startswith("~ Resource b update") for line in lines[plan:])
    project.write("world.json", "{}")
    project.run(*UP, "--refresh")
    assert (
        "Drift found by refreshing: none" in project.run("preview", "--refresh", "--stack", "dev").stdout.splitlines()
    )


def test_a_cascading_replacement_says_because_of_what(project: Project) -> None:
    program = 'db = Thing("db", "{}"); Thing("web", db.tag)'
    changing(project, program.format("x"))
    project.run(*UP)
    changing(project, program.format("y"))
    because = "because Resource db, which it depends on by 'zone', is replaced"
    for command in (("preview", "--stack", "dev"), UP):
        said = project.run(*command).stdout
        [line] = [line for line in said.splitlines() if because in line]
        assert "Resource web" in line


def test_changes_of_the_state_alone_are_shown(project: Project) -> None:
    changing(project, 'Thing("old", "x"); Thing("kept", "x")')
    project.run(*UP)
    options = 'Thing("new", "x", opts=pulumi.ResourceOptions(aliases=[pulumi.Alias(name="old")]))'
    changing(project, options + '; Thing("kept", "x", opts=pulumi.ResourceOptions(protect=True))')
    changed = project.run("preview", "--stack", "dev").stdout
    assert "Resource new: moved from 'urn:pulumi:dev::trial::" in changed
    assert "Resource kept: protected" in changed
    said = project.run(*UP).stdout
    assert "Resource kept: protected" in said
    assert "moved from" in said
    changing(project, 'Thing("new", "x"); Thing("kept", "x")')
    assert "Resource kept: unprotected" in project.run(*UP).stdout
    assert "protected" not in project.run("preview", "--stack", "dev").stdout


def test_a_protected_resource_that_is_to_go_is_told_with_its_reason(project: Project) -> None:
    changing(project, 'Thing("kept", "x", opts=pulumi.ResourceOptions(protect=True))')
    project.run(*UP)
    # What is made before has to be on the disk before more is told.
    changing(project, 'Thing("new", "x")')
    said = project.run(*UP, code=1).stdout
    assert re.search(r"^! Resource kept failed to delete .*because it is protected", said, re.MULTILINE), said
    assert "cancelled" not in said


def test_a_target_may_be_given_by_its_name_where_that_is_unique(project: Project) -> None:
    group = 'Group = pulumi.ComponentResource; top = Group("demo:index:Group", "group")'
    inside = 'Thing("twin", "{0}", opts=pulumi.ResourceOptions(parent=top))'
    program = f'{group}; Thing("queue-1", "{{0}}"); Thing("twin", "{{0}}"); {inside}'
    changing(project, program.format("x"))
    # A new resource is meant by its name, too.
    assert "Resource queue-1 created" in project.run(*UP, "-t", "queue-1").stdout
    project.run(*UP)
    changing(project, program.format("y"))
    said = project.run("preview", "--stack", "dev", "-t", "queue-1").stdout
    assert "Resource queue-1 replace" in said
    assert "Resource twin" not in said
    said = project.failing("preview", "--stack", "dev", "--target", "twin")
    assert "--target 'twin': 2 resources have that name; give the URN of the one that is meant:" in said
    assert len(re.findall(r"^ +urn:pulumi:dev::trial::.*::twin$", said, re.MULTILINE)) == 2
    said = project.failing("preview", "--stack", "dev", "--exclude", "quee-1")
    assert "--exclude: Target 'quee-1' could not be found in the stack or in the program; did you mean" in said
    assert "::queue-1" in said
    assert "Resource queue-1" not in project.run("preview", "--stack", "dev", "--exclude", "queue-1").stdout
    # Commands on the state take names as well.
    assert "protected" in project.run("state", "protect", "--yes", "queue-1").stdout
    assert "did you mean" in project.failing("state", "protect", "--yes", "queue-11")
    assert "2 resources have that name" in project.failing("state", "delete", "--yes", "twin")
    project.run("stack", "init", "other", "--no-select")
    move = ("state", "move", "--source", "dev", "--dest", "other", "--yes")
    assert "Moved 1 resource from stack 'dev'" in project.run(*move, "queue-1").stdout
    assert 'No such resource "queue-1"' in project.failing(*move, "queue-1")
    assert "2 resources have that name" in project.failing(*move, "twin")
