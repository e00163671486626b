"""What the command line asks of Python; the native half calls this on the main thread."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from maloko._command_line.first_pass import PassHelper
from maloko._command_line.origin import About, about, own_command
from maloko._process.exits import DirectEnds
from maloko._process.signals import call_own_handler
from maloko._sdk.load import load_sdk

if TYPE_CHECKING:
    import subprocess

    from maloko._command_line.late_host import LateHost
    from maloko._maloko import Engine
    from maloko._run.host import Host


_CONFIGURATION = 2
"""The exit code of what is wrong with arguments or project files."""
_INTERRUPTED = 130
"""The exit code by which a shell counts a process that Ctrl-C ended."""


class LanguageHost:
    """One command line."""

    def __init__(self, helper: PassHelper | None) -> None:
        self._helper = helper
        self._pass: PassHelper | subprocess.Popen[bytes] | None = None
        self._host: Host | None = None
        self.ends = DirectEnds()

    def interrupted(self, number: int) -> None:
        """A signal has cancelled the run: calls the program's own handler, if there is one."""
        from maloko._process.terminal import give_up_reading

        give_up_reading()
        loop = self._host.loop if self._host is not None else None
        if loop is not None:
            call_own_handler(loop, number)

    def interrupt_debugger(self) -> None:
        """Ctrl-C, while a debugger has the terminal."""
        from maloko._process.terminal import interrupted

        interrupted()

    def interrupt_pass(self, number: int) -> None:
        """Sends a signal on to the process of the pass."""
        if self._pass is not None:
            self._pass.send_signal(number)

    def about(self) -> About:
        """What the command line tells of this installation."""
        return about()

    def own_command(self) -> tuple[str, list[str], str]:
        """What starts this command line again, and where."""
        return own_command()

    def describe_error(self, error: BaseException) -> tuple[str, str, str]:
        """The name of an exception's class, its text and its traceback, for another process."""
        from maloko._process.tracebacks import as_text, format_error

        try:
            text = as_text(str(error))
        except BaseException:  # the exception is a user's object
            text = "(it cannot be shown: its text raises)"
        return type(error).__name__, text, format_error(error)

    def resource_classes(self) -> str:
        """The classes of dynamic resources that the program made, as JSON."""
        from maloko._run.resource_classes import described

        return described(self._host.makers if self._host is not None else {})

    def run_program(
        self, late: LateHost, engine: Engine, entry: str, loaded_file: str | None
    ) -> tuple[str, BaseException] | None:
        """Runs the program at a path; returns its error with the exception. Its files are listed in `loaded_file`."""
        self._host = self._begun(late, engine)
        from maloko._process.terminal import flush_streams
        from maloko._run.program import run_path

        failure = run_path(self._host, engine, Path(entry))
        # What is still in a buffer when the process ends would come behind everything, and into the JSON.
        flush_streams()
        if loaded_file is not None:
            from maloko._run.loaded_files import list_loaded_files

            list_loaded_files(Path(loaded_file), failure and failure.error)
        return failure

    def attach(self, late: LateHost, engine: Engine, entry: str) -> None:
        """Makes the modules of a program importable without running it."""
        host = self._begun(late, engine)
        from maloko._run.program import attach

        attach(host, engine, Path(entry))

    def _begun(self, late: LateHost, engine: Engine) -> Host:
        """The host of a run in which code of the user runs, in this process."""
        load_sdk()
        from maloko._process.terminal import lent_to_readers
        from maloko._run.printed_output import told_by_resource

        host = late.made()
        host.on_close.enter_context(told_by_resource(engine))
        host.on_close.enter_context(lent_to_readers())
        self.ends.begin(preview=engine.dry_run)
        return host

    def native_packages(self, entry: str) -> list[tuple[str, str, str | None]]:
        """The native packages that the program uses, each with a place, and the module of an SDK that it imports."""
        from maloko._run.native_packages import native_packages

        return native_packages(Path(entry))

    def fleet(self, request: str) -> int:
        """Does what a command of `fleet` asks for; returns its exit code. Ctrl-C is Python's own again meanwhile."""
        import importlib
        from importlib.util import find_spec

        from maloko._process.signals import take_back

        if find_spec("temporalio") is None:
            return _refuse("maloko fleet needs more packages: pip install 'maloko[fleet]'")
        take_back()
        try:
            # By its name: fleets are above the automation API, which is above this.
            code: int = importlib.import_module("maloko.fleet._commands").run(request)
        except KeyboardInterrupt:
            return _INTERRUPTED
        return code

    def run_pass(self, arguments: list[str]) -> int:
        """Runs a command line in a process in which no user code has run; returns its exit code."""
        self._pass, self._helper = self._helper, None
        if self._pass is not None:
            code = self._pass.run(arguments)
            self._pass = None
            if code is not None:
                return code
        import subprocess  # where there is no helper, which is rare

        with subprocess.Popen([sys.executable, "-m", "maloko", *arguments]) as self._pass:
            code = self._pass.wait()
        self._pass = None
        return code if code >= 0 else 128 - code

    def re_execute(self, root: str, options: str, arguments: list[str]) -> int | None:
        """Runs this command line in the virtualenv that the project names; `None` when this is the one."""
        virtualenv = json.loads(options or "null")
        virtualenv = virtualenv.get("virtualenv") if isinstance(virtualenv, dict) else None
        if not isinstance(virtualenv, str) or not virtualenv:
            return None
        place = Path(root, virtualenv)
        if Path(sys.prefix).resolve() == place.resolve():
            return None
        python = place / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        if not python.exists():
            return _refuse(
                f"Pulumi.yaml names the virtualenv {virtualenv}, and there is no {python}.\n"
                "Run `maloko install`: it makes the virtualenv, and installs what the project requires"
            )
        import subprocess  # only for the project whose virtualenv is another one

        probe = [str(python), "-c", "import importlib.util as u, sys; sys.exit(u.find_spec('maloko') is None)"]
        if subprocess.run(probe, check=False, stdin=subprocess.DEVNULL).returncode != 0:
            return _refuse(
                f"Pulumi.yaml names the virtualenv {virtualenv}, and maloko is not installed there.\n"
                f"Install it with: {python} -m pip install maloko"
            )
        command = [str(python), "-m", "maloko", *arguments]
        sys.stdout.flush()
        sys.stderr.flush()
        if os.name == "nt":
            return subprocess.run(command, check=False).returncode
        return os.execv(command[0], command)


def _refuse(message: str) -> int:
    print(f"error: {message}", file=sys.stderr)
    return _CONFIGURATION
