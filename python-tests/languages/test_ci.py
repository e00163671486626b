"""A repository whose CI calls `pulumi`, played with a `pulumi` that is maloko."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from cli import Project
from night import LONG

Pulumi = Callable[..., subprocess.CompletedProcess[str]]

PROGRAM = """import pulumi
pulumi.export("size", pulumi.Config().require_int("size") * 2)
pulumi.export("token", pulumi.Config().require_secret("token"))
"""


@pytest.fixture
def pulumi(tmp_path: Path) -> Pulumi:
    """Runs `pulumi` as a step of CI does, and expects an exit code."""
    project = Project(tmp_path / "repository", "shop")
    project.write("__main__.py", PROGRAM)
    (tmp_path / "state").mkdir()
    project.run("shim", "install", str(tmp_path / "tools"))
    variables = {**project.environment, "PULUMI_CONFIG_PASSPHRASE": "test", "PULUMI_HOME": str(tmp_path / "home")}

    def run(*arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        command = [str(tmp_path / "tools" / "pulumi"), *arguments]
        done = subprocess.run(
            command, cwd=project.directory, env=variables, capture_output=True, text=True, check=False
        )
        assert done.returncode == code, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    return run


def test_a_repository_whose_ci_calls_pulumi_moves_by_the_shim_alone(pulumi: Pulumi, tmp_path: Path) -> None:
    version = pulumi("version")
    assert (version.stdout.startswith("v3."), version.stdout.count("\n"), version.stderr) == (True, 1, "")
    pulumi("login", "--local", "--non-interactive")
    pulumi("login", f"file://{tmp_path}/state")
    missing = pulumi("stack", "select", "dev", "--non-interactive", code=6)
    assert (missing.stdout, "no stack named 'dev' found" in missing.stderr) == ("", True)
    pulumi("stack", "select", "dev", "--create", "--non-interactive", "--secrets-provider", "passphrase")
    assert "stack 'dev' already exists" in pulumi("stack", "init", "dev", code=1).stderr
    pulumi("config", "set", "size", "--plaintext", "--stack", "dev", "--non-interactive", "--", "-21")
    pulumi("config", "set", "--secret", "token", "t0p", "--stack=dev")
    previewed = pulumi("--non-interactive", "preview", "--diff", "--stack", "dev", "--color", "never", "--logtostderr")
    assert "+ 1 to create" in previewed.stdout
    assert "t0p" not in previewed.stdout + previewed.stderr
    made = pulumi("up", "--yes", "--non-interactive", "--skip-preview", "--stack", "dev", "--suppress-permalink")
    assert ("+ 1 created" in made.stdout, made.stderr) == (True, "")

    shown = pulumi("stack", "output", "--json")
    assert (json.loads(shown.stdout), shown.stderr) == ({"size": -42, "token": "[secret]"}, "")
    if LONG:
        assert pulumi("stack", "output", "size", "--json").stdout == "-42\n"
        assert json.loads(pulumi("stack", "output", "--json", "--show-secrets").stdout)["token"] == "t0p"
    (listed,) = json.loads(pulumi("stack", "ls", "--json").stdout)
    assert (listed["name"], listed["current"], listed["resourceCount"]) == ("dev", True, 1)
    (entry,) = json.loads(pulumi("stack", "history", "--json").stdout)
    assert (entry["kind"], entry["result"], entry["version"]) == ("update", "succeeded", 1)
    assert pulumi("cancel", "--yes", "--stack", "dev").stderr == ""

    # What goes wrong in a run is on stdout, and what is refused before it on stderr.
    program = tmp_path / "repository" / "__main__.py"
    program.write_text("raise ValueError('out of luck')\n")
    failed = pulumi("up", "--yes", "--skip-preview", "--non-interactive", code=1)
    assert "failed with an unhandled exception: ValueError: out of luck" in failed.stdout
    assert "out of luck" not in failed.stderr
    refused = pulumi("up", "--non-interactive", "--attach-debugger", code=2)
    assert (refused.stdout, "start maloko itself" in refused.stderr) == ("", True)
    program.write_text(PROGRAM)
    if LONG:
        pulumi("preview", "--expect-no-changes", "--non-interactive")
    pulumi("destroy", "--yes", "--skip-preview", "--non-interactive")
    pulumi("stack", "rm", "--yes", "dev")
    assert json.loads(pulumi("stack", "ls", "--json").stdout) == []
