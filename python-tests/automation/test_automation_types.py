"""What a type checker says of programs that use the Automation API."""

import subprocess
import sys
from pathlib import Path

PROGRAM = """
from pulumi import automation as official

from maloko import automation as auto


async def main() -> None:
    stack = auto.create_or_select_stack("dev", "project", lambda: None)
    as_before: official.Stack = stack
    result: official.UpResult = stack.up(on_output=print, parallel=4)
    awaited: official.UpResult = await stack.up_async(on_output=print, parallel=4)
    number: int = result.outputs["a"].secret  # a truth value is a number
    await stack.set_config_async("key", auto.ConfigValue("value"), path=True)
    try:
        await auto.select_stack_async("dev", work_dir=".")
    except auto.StackNotFoundError as error:
        print(error.urn, error.method, error.code, error.exception)
    stack.up(paralel=4)
    await stack.up_async(paralel=4)
    stack.set_config("key", "value")
    summary: official.UpdateSummary = stack.info()
"""


def test_mistakes_are_found_by_the_compiler(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--no-error-summary", str(file)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    lines = PROGRAM.splitlines()
    found = [
        (lines[int(line.split(":")[1]) - 1].strip(), line.rsplit("[", 1)[1].rstrip("]"))
        for line in done.stdout.splitlines()
        if ": error:" in line
    ]
    assert found == [
        ("stack.up(paralel=4)", "call-arg"),
        ("await stack.up_async(paralel=4)", "call-arg"),
        ('stack.set_config("key", "value")', "arg-type"),
        ("summary: official.UpdateSummary = stack.info()", "assignment"),
    ], done.stdout + done.stderr
