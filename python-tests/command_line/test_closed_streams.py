"""Commands that are started with standard descriptors closed, or with a stdout that takes nothing."""

import subprocess

import pytest
from cli import Project
from night import by_day

PROGRAM = """
from pulumi import export
from pulumi.dynamic import CreateResult, Resource, ResourceProvider

class Talking(ResourceProvider):
    def create(self, props):
        print("from the provider")
        return CreateResult("one", {})

class Thing(Resource):
    def __init__(self, name): super().__init__(Talking(), name, {})

print("from the program")
Thing("one")
export("answer", 42)
"""


def run_redirected(project: Project, redirected: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a command under a shell that closes or redirects descriptors first."""
    return project.run_through(f'exec "$@" {redirected}', *arguments)


@pytest.mark.parametrize(
    "closed", by_day([">&-", "2>&-", "<&-", "<&- >&-", ">&- 2>&-", "<&- >&- 2>&-"], lambda _, place: place in (0, 1, 5))
)
def test_a_run_without_standard_descriptors_does_its_work(project: Project, closed: str) -> None:
    project.write("__main__.py", PROGRAM)
    done = run_redirected(project, closed, "up", "--yes")
    shown = done.stdout + done.stderr
    assert done.returncode == 0, shown
    assert "Traceback" not in shown
    # What is shown is not captured again.
    assert shown.count("from the program") <= 2
    assert project.run("stack", "output", "answer").stdout == "42\n"
    # Nothing that is shown was written into a file of the state's.
    for file in (project.directory / ".maloko").rglob("*"):
        assert not file.is_file() or b"from the pro" not in file.read_bytes(), file


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_command_that_fails_without_standard_descriptors_keeps_its_exit_code(project: Project) -> None:
    assert run_redirected(project, "<&- >&- 2>&-", "stack", "select", "missing").returncode == 6


def test_a_run_that_cannot_be_shown_does_its_work_and_fails(project: Project) -> None:
    project.write("__main__.py", PROGRAM)
    done = run_redirected(project, "> /dev/full", "up", "--yes")
    assert done.returncode == 1
    assert "error: the output could not be written: No space left on device" in done.stderr
    assert project.run("stack", "output", "answer").stdout == "42\n"
    assert run_redirected(project, "> /dev/full", "stack", "export").returncode == 1


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_an_event_log_that_cannot_be_written_is_a_failure(project: Project) -> None:
    project.write("__main__.py", PROGRAM)
    done = project.run("up", "--yes", "--skip-preview", "--event-log", "/dev/full", code=1)
    assert (
        "error: the event log /dev/full (from --event-log) could not be written: No space left on device" in done.stderr
    )
    assert "Apart from that, the command succeeded" in done.stderr
    assert project.run("stack", "output", "answer").stdout == "42\n"


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_an_event_log_that_cannot_be_written_ends_a_command_after_its_preview(project: Project) -> None:
    project.write("__main__.py", PROGRAM)
    done = project.run("up", "--yes", "--event-log", "/dev/full", code=1)
    said = "the preview succeeded. The command went no further: nothing was changed"
    assert f"No space left on device. Apart from that, {said}" in done.stderr.replace(" (os error 28)", "")
    assert "the command succeeded" not in done.stderr
    assert project.run("stack", "output", "answer", code=None).returncode != 0


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_what_a_command_says_by_its_exit_code_stays_when_it_cannot_be_shown(project: Project) -> None:
    project.write("__main__.py", PROGRAM)
    done = run_redirected(project, "> /dev/full", "preview", "--expect-no-changes")
    assert done.returncode == 7
    assert "error: no changes were expected" in done.stderr


def test_a_reader_of_the_help_who_has_gone_away_is_no_failure(project: Project) -> None:
    # A pipe whose reader has ended before anything is written.
    gone = 'rm -f pipe; mkfifo pipe; true < pipe & exec 3> pipe; wait; "$@" >&3; echo "ended with $?" >&2'
    for arguments in (["--help"], ["up", "--help"], ["help", "state"], ["version"]):
        done = project.run_through(gone, *arguments)
        assert done.stderr == "ended with 0\n", arguments
