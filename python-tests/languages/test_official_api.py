"""The official Automation API on a `pulumi` that is maloko: a part of what `make check-automation-table` calls."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli import Project

METHODS = Path(__file__).parents[2] / "conformance" / "automation" / "methods.py"


@pytest.mark.nightly
def test_errors_of_the_official_api_have_their_classes_and_stacks_keep_apart(project: Project, tmp_path: Path) -> None:
    project.run("shim", "install", str(tmp_path / "tools"))
    for name in ("work", "states"):
        (tmp_path / name).mkdir()
    variables = {
        **project.environment,
        "PATH": f"{tmp_path}/tools:{os.environ['PATH']}",
        "PULUMI_BACKEND_URL": f"file://{tmp_path}/states",
        "PULUMI_CONFIG_PASSPHRASE": "test",
        "PULUMI_HOME": str(tmp_path / "plugins"),
    }
    command = [sys.executable, str(METHODS), str(tmp_path / "work"), "errors"]
    ran = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    rows = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [row for row in rows if row["result"] == "fails"] == []
    assert (ran.returncode, len(rows)) == (0, 3), ran.stderr
