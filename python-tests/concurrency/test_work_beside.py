"""Commands beside another process that works on the same stack."""

from cli import Project, begin, wait_for

PROGRAM = """
import os, pathlib, time
from pulumi.dynamic import CreateResult, Resource, ResourceProvider

HERE = pathlib.Path(__file__).parent


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
        refused = project.run("up", "--yes", "-s", "dev", code=None)
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
    assert refused.returncode != 0
    early, _, late = refused.stderr.partition("error: the stack is currently locked by ")
    assert early.count(who) == 1, "it is said before the preview, and once"
    assert "`maloko up` itself cannot begin before that is done" in early
    assert who in late
    assert "unchanged" in project.run("up", "--yes", "-s", "dev").stdout
