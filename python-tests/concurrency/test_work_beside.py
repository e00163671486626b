"""Commands beside another process that works on the same stack."""

from cli import Project, begin, wait_for

PROGRAM = """
import os, pathlib, time
from pulumi.dynamic import CreateResult, Resource, ResourceProvider

HERE = pathlib.Path(__file__).parent
with (HERE / "loads").open("a") as loads:
    loads.write("x")


class Slow(ResourceProvider):
    def create(self, props):
        (HERE / "started").touch()
        while not (HERE / "go on").exists():
            time.sleep(0.01)
        return CreateResult("1", props)

    def find(self, key, props):
        (HERE / "looked for").touch()


class Thing(Resource):
    pass


Thing(Slow(), "thing", {})
"""


def test_a_preview_beside_another_process_s_live_run_says_who_is_at_work(project: Project) -> None:
    project.write("__main__.py", PROGRAM)
    running = begin(project, "up", "--yes", "--skip-preview", "-s", "dev")
    wait_for(project.directory / "started")
    try:
        previewed = project.run("preview", "-s", "dev")
        loads = (project.directory / "loads").read_text()
        refused = project.run("up", "--yes", "-s", "dev", code=10)
        assert (project.directory / "loads").read_text() == loads, "the program is not run for nothing"
        # A run that was interrupted is something else.
        looked_for = (project.directory / "looked for").exists()
    finally:
        project.write("go on", "")
        said, _ = running.communicate()
    assert running.returncode == 0, said
    who = f"`maloko up`, process {running.pid} on "
    assert "warning: the stack 'dev' is locked by maloko of " in previewed.stderr
    assert who in previewed.stderr
    assert "preview again when that is done" in previewed.stderr
    assert "1 to create" in previewed.stdout, previewed.stdout
    assert not looked_for
    for text in ("interrupted", "when the run ended"):
        assert text not in previewed.stdout + previewed.stderr + refused.stdout + refused.stderr
    assert "error: the stack is currently locked by " in refused.stderr
    assert refused.stderr.count(who) == 1
    assert "unchanged" in project.run("up", "--yes", "-s", "dev").stdout


def test_an_operation_waits_for_another_one_as_long_as_it_is_told(project: Project) -> None:
    project.write("__main__.py", PROGRAM)
    running = begin(project, "up", "--yes", "--skip-preview", "-s", "dev")
    wait_for(project.directory / "started")
    # The flag goes before the variable.
    project.environment["MALOKO_LOCK_TIMEOUT"] = "0s"
    waiting = begin(project, "up", "--yes", "-s", "dev", "--lock-timeout", "4m")
    try:
        assert waiting.stdout is not None
        told = waiting.stdout.readline()
        refused = project.run("refresh", "--yes", "--skip-preview", "-s", "dev", code=10)
        project.environment["MALOKO_LOCK_TIMEOUT"] = "soon"
        wrong = project.run("stack", code=2)
    finally:
        project.write("go on", "")
        said, _ = running.communicate()
        more, _ = waiting.communicate()
    assert "the stack 'dev' is locked by maloko of " in told
    assert "waiting for 240 s at most" in told
    assert "currently locked" in refused.stderr
    assert "write a number and a unit, such as 90s, 5m or 1h30m" in wrong.stderr
    assert running.returncode == 0, said
    assert waiting.returncode == 0, more
    assert "unchanged" in more
