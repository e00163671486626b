"""What the display says of calls that are under way."""

from cli import Project, begin
from terminal import Terminal

GATED = """
import os, time
import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider

class Gated(ResourceProvider):
    def create(self, props):
        while not os.path.exists(props["gate"]):
            time.sleep(0.01)
        return CreateResult(props["gate"], dict(props))

class Thing(Resource):
    def __init__(self, name, gate, after=None):
        super().__init__(Gated(), name, {"gate": gate}, pulumi.ResourceOptions(depends_on=after))
"""


def gated(project: Project) -> None:
    """Resources `long-a`, `long-b` and `long-c`, which are made once there is a file `gate`, after two quick ones."""
    project.write("open", "")
    project.write(
        "__main__.py",
        GATED
        + """
open_ = os.path.abspath("open")
first = Thing("first", open_)
second = Thing("second", open_, [first])
for name in "abc":
    Thing(f"long-{name}", os.path.abspath("gate"), [second])
""",
    )


def test_the_display_is_true_a_call_that_is_under_way_is_never_shown_as_waiting(project: Project) -> None:
    gated(project)
    with Terminal(project, "up", "--yes", "--skip-preview") as terminal:
        for name in "abc":
            terminal.shows(rf"long-{name} +creating \([\d.]+s\)")
        terminal.shows(r"3 in progress")
        assert "waiting" not in terminal.view
        project.write("gate", "")
        assert "long-a" in terminal.ends()


def test_off_a_terminal_each_of_several_long_creates_is_reported_as_still_going(project: Project) -> None:
    gated(project)
    project.environment["MALOKO_PROGRESS_SECONDS"] = "1"
    running = begin(project, "up", "--yes", "--skip-preview")
    assert running.stdout is not None
    told = []
    while not all(any(f"long-{name}: still creating (1" in line for line in told) for name in "abc"):
        line = running.stdout.readline()
        assert line, told
        told.append(line)
    project.write("gate", "")
    rest, _ = running.communicate(timeout=60)
    assert running.returncode == 0, rest
    _, made, later = "".join([*told, rest]).partition("Resource first created")
    assert made
    assert "first: still" not in later
