"""The command line as an object of the automation API."""

import json
from pathlib import Path

import pytest
from automation_kit import new_stack

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
