"""Programs in a process of their own, apart from the engine (`--isolated`)."""

import json
import os
import signal
from pathlib import Path

import pytest
from cli import Project, begin, read_until

from maloko import automation as auto

PROGRAM = """import contextvars, os, signal, sys, threading
import pulumi
from pulumi.dynamic import CreateResult, DiffResult, Resource, ResourceProvider, UpdateResult

REGION = contextvars.ContextVar("REGION", default="none")
WISH = pulumi.Config().get("wish") or ""
EVERYTHING = {"text": "a", "number": 1.5, "none": None, "list": [1, {"deep": True}]}


class Thing(ResourceProvider):
    calls = 0

    def configure(self, req):
        self.token = req.config.get("token")

    def create(self, props):
        Thing.calls += 1
        if WISH == "raise":
            raise LookupError("no such thing")
        if WISH == "die":
            os.write(2, b"the last words\\n")
            signal.raise_signal(signal.SIGSEGV)  # Of this thread, at once.
        if WISH == "wait":
            print("waiting in", os.getpid(), flush=True)
            threading.Event().wait()
        print("made", props["name"])
        outs = {**props, "pid": os.getpid(), "region": REGION.get(), "token": self.token, **EVERYTHING}
        return CreateResult(f"id-{props['name']}", outs)

    def diff(self, id, olds, news):
        return DiffResult(changes=olds["name"] != news["name"])

    def update(self, id, olds, news):
        return UpdateResult({**olds, **news})

    def delete(self, id, props):
        pass


class Made(Resource):
    pid: pulumi.Output[int]
    region: pulumi.Output[str]
    token: pulumi.Output[str]
    list: pulumi.Output[list]

    def __init__(self, provider, name):
        super().__init__(provider, name, {"name": name, "pid": None, "region": None, "token": None, "list": None})


print("the program is", os.getpid(), "with", sys.argv, __name__)
if WISH == "close":
    os.closerange(3, 1000)
if WISH == "rubbish":
    for number in range(3, 200):
        try:
            os.write(number, b"what is this")
        except OSError:
            pass
if WISH == "leave":
    os._exit(7)
shared = Thing()
REGION.set("eu")
made = [Made(shared, f"m{number}") for number in range(3)]
pulumi.export("pid", made[0].pid)
pulumi.export("region", made[0].region)
pulumi.export("token", made[0].token)
pulumi.export("list", made[0].list)
"""


@pytest.fixture
def isolated(project: Project) -> Project:
    project.write("__main__.py", PROGRAM)
    project.run("config", "set", "--secret", "token", "hidden")
    return project


def up(project: Project, *more: str, code: int = 0, **environment: str) -> str:
    done = project.run("up", "--yes", "--skip-preview", "--isolated", *more, code=code, **environment)
    return done.stdout + done.stderr


def test_a_program_in_its_own_process_makes_changes_and_deletes(isolated: Project) -> None:
    told = up(isolated)
    assert "made m1" in told
    outputs = json.loads(isolated.run("stack", "output", "--json", "--show-secrets").stdout)
    assert f"the program is {outputs['pid']} with" in told
    assert "__main__" in told
    assert (outputs["region"], outputs["token"]) == ("eu", "hidden")
    assert outputs["list"] == [1, {"deep": True}]
    with pytest.raises(ProcessLookupError):
        os.kill(outputs["pid"], 0)
    assert "4 unchanged" in up(isolated)
    isolated.run("destroy", "--yes", "--isolated")
    assert "resources" not in json.loads(isolated.state())["checkpoint"]["latest"]


def test_an_error_of_a_provider_has_its_class_and_traceback(isolated: Project) -> None:
    isolated.run("config", "set", "wish", "raise")
    told = up(isolated, code=1)
    assert "LookupError: no such thing" in told
    assert "__main__.py" in told


def test_a_process_that_dies_in_native_code_leaves_an_engine_that_records(isolated: Project) -> None:
    isolated.run("config", "set", "wish", "die")
    told = up(isolated, "--parallel", "1", code=1)
    assert "was ended by signal 11 (SIGSEGV)" in told
    # What Python itself says of the signal comes after the words of the program.
    assert "Its last words on stderr: " in told
    assert "the last words" in told
    assert "m1: its create was under way when the run ended" in told or "m0: its create was" in told
    isolated.run("config", "rm", "wish")
    assert "an earlier run was interrupted while creating this resource" in up(isolated)
    assert "4 unchanged" in up(isolated)


@pytest.mark.parametrize(
    ("wish", "told"),
    [
        pytest.param("leave", "ended with exit code 7", marks=pytest.mark.nightly),
        pytest.param("close", "closed a descriptor that is not its own", marks=pytest.mark.nightly),
        ("rubbish", "what came over its connection is no message"),
    ],
)
def test_a_process_that_does_not_come_to_its_end_is_an_error(isolated: Project, wish: str, told: str) -> None:
    isolated.run("config", "set", "wish", wish)
    assert told in up(isolated, code=1)
    # By the whole name: keys in the state are random letters.
    assert "::m0" not in isolated.run("stack", "export").stdout


def test_a_process_that_is_stopped_is_given_up(isolated: Project) -> None:
    isolated.run("config", "set", "wish", "wait")
    isolated.environment["MALOKO_ISOLATED_SECONDS"] = "4"
    running = begin(isolated, "up", "--yes", "--skip-preview", "--isolated", "--parallel", "1")
    line = read_until(running, "waiting in")
    process = int(line.rpartition("waiting in ")[2].split()[0])
    os.kill(process, signal.SIGSTOP)
    told = running.communicate(timeout=120)[0]
    assert running.returncode == 1
    assert "nothing was heard of it" in told
    assert "SIGSTOP" in told
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_ctrl_c_is_the_engine_s_and_ends_the_program_s_process(isolated: Project) -> None:
    isolated.run("config", "set", "wish", "wait")
    isolated.environment["MALOKO_CANCEL_SECONDS"] = "2"
    running = begin(isolated, "up", "--yes", "--skip-preview", "--isolated", "--parallel", "1")
    line = read_until(running, "waiting in")
    process = int(line.rpartition("waiting in ")[2].split()[0])
    running.send_signal(signal.SIGINT)
    told = running.communicate(timeout=120)[0]
    assert "cancelling: nothing new begins" in told
    assert running.returncode != 0
    assert_gone(process)


def assert_gone(process: int) -> None:
    """Waits for the end of a process whose parent has left."""
    while Path(f"/proc/{process}").exists():
        os.sched_yield()


def test_the_configuration_isolates_a_program_and_json_stays_clean(isolated: Project) -> None:
    isolated.run("config", "set", "maloko:isolated", "true")
    events = isolated.events("up", "--yes", "--skip-preview")
    told = [event["diagnosticEvent"]["message"] for event in events if "diagnosticEvent" in event]  # type: ignore[index]
    assert any("the program is" in text for text in told)
    isolated.run("config", "set", "maloko:isolated", "perhaps")
    assert "can only be 'true' or 'false'" in isolated.failing("up", "--yes", "--skip-preview")


def test_the_automation_api_isolates_a_local_program_and_refuses_an_inline_one(isolated: Project) -> None:
    options = auto.LocalWorkspaceOptions(env_vars={"HOME": isolated.environment["HOME"]})
    local = auto.select_stack(stack_name="dev", work_dir=str(isolated.directory), opts=options)
    made = local.up(isolated=True)
    assert f"the program is {made.outputs['pid'].value} with" in made.stdout
    settings = auto.ProjectSettings(name="trial", runtime="python", backend=auto.ProjectBackend(url="file://."))
    workspace = auto.LocalWorkspaceOptions(
        work_dir=str(isolated.directory / "home"),
        project_settings=settings,
        env_vars={"PULUMI_CONFIG_PASSPHRASE": "test"},
    )
    (isolated.directory / "home").mkdir(exist_ok=True)
    inline = auto.create_stack(stack_name="other", project_name="trial", program=lambda: None, opts=workspace)
    with pytest.raises(auto.CommandError, match="given inline is part of this process"):
        inline.up(isolated=True)
