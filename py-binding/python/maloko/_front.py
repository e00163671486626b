"""What the command line asks of Python; the native half calls this on the main thread."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from maloko._passes import PassHelper

if TYPE_CHECKING:
    from maloko._host import Host
    from maloko._maloko import Engine


class Front:
    """One command line."""

    def __init__(self, helper: PassHelper | None) -> None:
        self._helper = helper

    def about(self) -> tuple[str, str, str]:
        """The interpreter's version and path, and the SDK's version."""
        from importlib.metadata import PackageNotFoundError, version

        try:
            sdk = version("pulumi")
        except PackageNotFoundError:
            sdk = ""
        return platform.python_version(), sys.executable, sdk

    def run_program(self, host: Host, engine: Engine, entry: str) -> tuple[str, BaseException] | None:
        """Runs the program at a path; returns its error with the exception."""
        from maloko._output import told_by_resource
        from maloko._program import run_path

        host.on_close.enter_context(told_by_resource(engine))
        return run_path(host, engine, Path(entry))

    def attach(self, host: Host, engine: Engine, entry: str) -> None:
        """Makes the modules of a program importable without running it."""
        from maloko._output import told_by_resource
        from maloko._program import attach

        host.on_close.enter_context(told_by_resource(engine))
        attach(host, engine, Path(entry))

    def native_packages(self, entry: str) -> list[tuple[str, str]]:
        """The native packages that the program imports, each with a place."""
        from maloko._packages import native_packages

        return native_packages(Path(entry))

    def run_pass(self, arguments: list[str]) -> int:
        """Runs a command line in a process in which no user code has run; returns its exit code."""
        if self._helper is not None:
            code = self._helper.run(arguments)
            self._helper = None
            if code is not None:
                return code
        return subprocess.run([sys.executable, "-m", "maloko", *arguments], check=False).returncode

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
                f"Make it with: python -m venv {place} && {python} -m pip install maloko"
            )
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
    return 255
