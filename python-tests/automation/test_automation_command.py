"""The command line as an object of the automation API."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pulumi
import pytest
from automation_kit import Echo, Thing, new_stack, placed

from maloko import MalokoError
from maloko import automation as auto


def test_a_command_is_run_with_the_official_signature(tmp_path: Path) -> None:
    stack = new_stack(tmp_path)
    stack.up()
    workspace = stack.workspace
    directory, variables = workspace.work_dir, workspace.env_vars
    command = auto.PulumiCommand()
    told: list[str] = []
    listed = command.run(["stack", "ls", "--json"], directory, variables, told.append)
    assert [it["name"] for it in json.loads(listed.stdout)] == ["dev"]
    assert json.loads("".join(told)) == json.loads(listed.stdout)
    assert listed.code == 0
    errors: list[str] = []
    with pytest.raises(auto.CommandError):
        command.run(["stack", "rm", "nowhere"], directory, variables, on_error=errors.append)
    assert "nowhere" in "".join(errors)
    # An operation runs the program of the directory.
    own = tmp_path / "own"
    own.mkdir()
    (own / "Pulumi.yaml").write_text("name: own\nruntime: python\n")
    (own / "__main__.py").write_text("import pulumi\npulumi.export('directory', __file__)\n")
    for arguments in (["stack", "init", "dev"], ["up", "--yes", "--skip-preview", "--stack", "dev"]):
        command.run(arguments, str(own), variables)
    outputs = command.run(["stack", "output", "--json", "--stack", "dev"], str(own), variables)
    assert json.loads(outputs.stdout) == {"directory": str(own / "__main__.py")}
    # So it does wherever its name stands.
    previewed = command.run(["--stack", "dev", "preview", "--expect-no-changes"], str(own), variables)
    assert "unchanged" in previewed.stdout


class Noting:
    """A command of the caller's own, which notes what it is asked for and may hand it on."""

    command = "my-own"
    version = None

    def __init__(self, inner: auto.CommandRunner | None) -> None:
        self.inner = inner
        self.calls: list[tuple[str, str, str]] = []

    def run(
        self,
        args: list[str],
        cwd: str,
        additional_env: Mapping[str, str],
        on_output: auto.OnOutput | None = None,
        on_error: auto.OnOutput | None = None,
    ) -> auto.CommandResult:
        self.calls.append((" ".join(args), cwd, additional_env.get("OWN", "")))
        if self.inner is None:
            return auto.CommandResult(stdout="{}", stderr="", code=0)
        return self.inner.run(args, cwd, additional_env, on_output, on_error)


def test_a_workspace_runs_everything_through_the_command_that_it_was_given(tmp_path: Path) -> None:
    own = Noting(auto.PulumiCommand())

    def program() -> None:
        Thing(Echo(), "a")
        pulumi.export("made", "here")

    stack = new_stack(tmp_path, program, pulumi_command=own, env_vars={"OWN": "mine"})
    seen: list[Any] = []
    result = stack.up(on_event=seen.append)
    assert result.outputs["made"].value == "here"
    assert result.summary.resource_changes == {"create": 2}
    assert seen
    assert any(arguments.startswith("up ") for arguments, _, _ in own.calls)
    assert {(cwd, variable) for _, cwd, variable in own.calls} == {(stack.workspace.work_dir, "mine")}
    assert stack.workspace.pulumi_version == auto.LocalWorkspace().pulumi_version
    assert stack.preview().change_summary == {"same": 2}


def test_a_command_that_cannot_run_an_inline_program_is_told_so(tmp_path: Path) -> None:
    new_stack(tmp_path, lambda: None)
    own = Noting(None)
    workspace = auto.LocalWorkspace(**vars(placed(tmp_path, pulumi_command=own)))
    assert workspace.pulumi_command.run(["anything"], "", {}).stdout == "{}"
    other = auto.select_stack("dev", "project", lambda: None, opts=placed(tmp_path, pulumi_command=own))
    with pytest.raises(MalokoError, match=r"\('my-own'\) cannot run an inline program"):
        other.up()
