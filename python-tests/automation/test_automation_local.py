"""The Automation API with programs in directories of their own, each operation in a process of its own."""

import os
from pathlib import Path
from typing import Any

import pytest
from automation_kit import placed
from night import LONG

from maloko import automation as auto

THING = """
import os
import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider

class Provider(ResourceProvider):
    def create(self, props):
        if props["text"].startswith("bad"):
            raise OverflowError("too " + props["text"])
        return CreateResult("made", props)

class Thing(Resource):
    text: pulumi.Output[str]

    def __init__(self, name, text):
        super().__init__(Provider(), name, {"text": text})

"""


def local(
    directory: Path, program: str, project: str = "name: local\nruntime: python\n", **variables: str
) -> auto.Stack:
    """A stack `dev` of a project with this program."""
    work = directory / "project"
    work.mkdir()
    (work / "Pulumi.yaml").write_text(project)
    (work / "__main__.py").write_text(THING + program)
    return auto.create_or_select_stack("dev", work_dir=str(work), opts=placed(directory, env_vars=variables))


def test_a_local_program_runs_in_its_own_directory(tmp_path: Path) -> None:
    stack = local(
        tmp_path,
        """
config = pulumi.Config()
pulumi.export("text", Thing("a", config.get("text") or "none").text)
pulumi.export("hidden", config.get_secret("token"))
pulumi.export("directory", os.getcwd())
pulumi.export("variable", os.environ.get("OF_WORKSPACE"))
print("printed by the program")
""",
        OF_WORKSPACE="set",
    )
    stack.set_config("text", auto.ConfigValue("configured"))
    stack.set_config("token", auto.ConfigValue("hush", secret=True))
    events: list[auto.EngineEvent] = []
    told: list[str] = []
    before = Path.cwd()
    result = stack.up(on_event=events.append, on_output=told.append)
    values = {name: (output.value, output.secret) for name, output in result.outputs.items()}
    assert values == {
        "text": ("configured", False),
        "hidden": ("hush", True),
        "directory": (stack.workspace.work_dir, False),
        "variable": ("set", False),
    }
    assert (Path.cwd(), os.environ.get("OF_WORKSPACE")) == (before, None)
    assert result.summary.resource_changes == {"create": 2}
    assert result.summary.environment["exec.kind"] == "auto.local"
    assert "printed by the program" in result.stdout
    assert "\n".join(told) == result.stdout
    assert len([event for event in events if event.summary_event]) == 1
    # Each is a process of its own.
    if LONG:
        assert stack.preview().change_summary == {"same": 2}
        assert stack.refresh().summary.kind == "refresh"
    assert stack.destroy().summary.resource_changes == {"delete": 2}


@pytest.mark.nightly
def test_a_local_program_may_be_in_a_relative_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = local(tmp_path, "pulumi.export('made', True)").workspace
    options = auto.LocalWorkspaceOptions(env_vars=workspace.env_vars)
    monkeypatch.chdir(tmp_path)
    stack = auto.select_stack("dev", work_dir="project", opts=options)
    assert stack.up().outputs["made"].value is True


def test_an_error_of_a_local_program_names_resource_and_method(tmp_path: Path) -> None:
    stack = local(tmp_path, 'Thing("a", "bad")')
    with pytest.raises(auto.CommandError) as raised:
        stack.up()
    error = raised.value
    assert error.urn is not None
    assert (error.urn.rsplit("::", 1)[1], error.method, error.code) == ("a", "create", 1)
    cause: Any = error.__cause__
    assert isinstance(cause, auto.LocalProgramError)
    assert (cause.type, cause.message) == ("OverflowError", "too bad")
    assert "__main__.py" in cause.traceback
    assert "OverflowError: too bad" in error.stdout


def test_an_error_of_a_local_program_has_no_secret(tmp_path: Path) -> None:
    stack = local(tmp_path, 'Thing("a", pulumi.Config().require_secret("token"))')
    stack.set_config("token", auto.ConfigValue("bad-but-kept", secret=True))
    with pytest.raises(auto.CommandError) as raised:
        stack.up()
    cause: Any = raised.value.__cause__
    assert cause.message == "too [secret]"
    assert "OverflowError: too [secret]" in cause.traceback
    assert "bad-but-kept" not in cause.traceback + raised.value.stdout + raised.value.stderr


# In Python alone: signals and sys.exit are exceptions, which have a class and can be caught
def test_an_error_of_a_local_program_has_the_official_class(tmp_path: Path) -> None:
    (tmp_path / "raises").mkdir()
    with pytest.raises(auto.RuntimeError) as raised:
        local(tmp_path / "raises", 'raise LookupError("nowhere")').up()
    assert str(raised.value.__cause__) == "LookupError: nowhere"
    (tmp_path / "syntax").mkdir()
    with pytest.raises(auto.CompilationError):
        local(tmp_path / "syntax", "def").preview()


def test_a_local_program_that_ends_its_process_is_told(tmp_path: Path) -> None:
    stack = local(tmp_path, "import signal; os.kill(os.getpid(), signal.SIGKILL)")
    with pytest.raises(auto.CommandError, match="was ended by SIGKILL") as raised:
        stack.up()
    assert raised.value.code == 255


def test_a_local_program_that_ends_its_process_with_0_has_failed(tmp_path: Path) -> None:
    stack = local(tmp_path, "import os; os._exit(0)")
    with pytest.raises(auto.CommandError, match=r"the program ended the process with os\._exit\(0\)") as raised:
        stack.up()
    assert raised.value.code == 1


def test_a_local_operation_is_ended_by_a_signal(tmp_path: Path) -> None:
    stack = local(
        tmp_path,
        """
import maloko

class Slow(ResourceProvider):
    def create(self, props):
        maloko.current_call().cancelled.wait(60)
        return CreateResult("made", props)

class Waits(Resource):
    pass

first = Waits(Slow(), "a", {})
Waits(Slow(), "b", {"first": first.id})
""",
    )

    def on_event(event: auto.EngineEvent) -> None:
        if event.resource_pre_event and event.resource_pre_event.metadata.urn.endswith("::a"):
            stack.cancel()

    with pytest.raises(auto.CommandError) as raised:
        stack.up(on_event=on_event)
    assert raised.value.code == 8
    names = [resource["urn"].rsplit("::", 1)[1] for resource in stack.export_stack().deployment["resources"]]
    assert "a" in names
    assert "b" not in names


def test_a_project_of_another_language_is_refused(tmp_path: Path) -> None:
    with pytest.raises(auto.CommandError, match="nodejs"):
        local(tmp_path, "", "name: local\nruntime: nodejs\n").up()
