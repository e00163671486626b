"""Runs command lines inside this process, one after the other, through the automation API.

A request is a line of JSON on standard input: `arguments`, `directory` (of the project) and `variables` (the whole
environment). The answer is a line with `code`, `stdout` and `stderr`. The program of the directory runs anew for each
operation: as a module `__main__` of its own.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from maloko import automation as auto


class EnoughError(Exception):
    """Ends the operation of the stack: the command line has run, with this result."""

    def __init__(self, result: auto.CommandResult) -> None:
        super().__init__("enough")
        self.result = result


class Given:
    """A workspace's command that runs the arguments that it was given, with the program of the workspace."""

    command = "conformance"
    version = None

    def __init__(self, arguments: list[str]) -> None:
        self.arguments = arguments

    def run(
        self,
        args: list[str],
        cwd: str,
        additional_env: Mapping[str, str],
        on_output: auto.OnOutput | None = None,
        on_error: auto.OnOutput | None = None,
    ) -> auto.CommandResult:
        if args[0] != "preview":
            return auto.CommandResult(stdout="", stderr="", code=0)
        raise EnoughError(auto.PulumiCommand().run(self.arguments, cwd, additional_env))


def run_program() -> None:
    """Runs the program of the working directory as the interpreter would."""
    file = Path.cwd() / "__main__.py"
    module = ModuleType("__main__")
    module.__file__ = str(file)
    sys.modules["__main__"] = module
    exec(compile(file.read_bytes(), str(file), "exec"), vars(module))


def run(arguments: list[str], directory: str, variables: dict[str, str]) -> auto.CommandResult:
    """Runs a command line; an operation's program has the directory and the environment of this process."""
    os.environ.clear()
    os.environ.update(variables)
    os.chdir(directory)
    workspace = auto.LocalWorkspace(work_dir=directory, program=run_program, pulumi_command=Given(arguments))
    try:
        auto.Stack.select("dev", workspace).preview()
    except EnoughError as done:
        return done.result
    except auto.CommandError as error:
        return auto.CommandResult(stdout=error.stdout, stderr=error.stderr, code=error.code)
    raise AssertionError("the command was never run")


def main() -> None:
    # What a program prints is no answer.
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        request = json.loads(line)
        result = run(request["arguments"], request["directory"], request["variables"])
        answer = {"code": result.code, "stdout": result.stdout, "stderr": result.stderr}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
