"""Breakpoints and coverage in provider methods are the same under the engine as without it, on every Python.

`make test-python-versions` runs this file on each Python that it finds.
"""

import inspect
import json
import os
import shutil
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dap
import every_method
import pytest
from every_method import EveryMethod

from maloko.testing import Kit

METHODS = ["configure", "check", "diff", "create", "read", "update", "delete"]
FILE = Path(every_method.__file__)


def life(kit: Kit) -> None:
    """Has every method of the provider called."""
    s = kit.stack(EveryMethod, inputs={"size": 1})
    s.up()
    s.set(size=2)
    s.up()
    s.refresh()
    s.destroy()


@contextmanager
def traced(stopped: set[str]) -> Iterator[None]:
    """As a debugger in Python does it: `sys.settrace` for this thread, `threading.settrace` for those to come."""

    def local(frame: Any, event: str, _argument: Any) -> Any:
        if event == "line":
            stopped.add(frame.f_code.co_name)
        return local

    def tracer(frame: Any, _event: str, _argument: Any) -> Any:
        return local if frame.f_code.co_filename == str(FILE) else None

    threading.settrace(tracer)
    sys.settrace(tracer)
    try:
        yield
    finally:
        sys.settrace(None)
        threading.settrace(None)


@contextmanager
def monitored(stopped: set[str]) -> Iterator[None]:
    """As debuggers and coverage do it from Python 3.12 on."""
    monitoring: Any = sys.monitoring  # type: ignore[attr-defined, unused-ignore]
    codes = [getattr(EveryMethod, method).__code__ for method in METHODS]
    monitoring.use_tool_id(monitoring.DEBUGGER_ID, "the test")
    monitoring.register_callback(
        monitoring.DEBUGGER_ID, monitoring.events.LINE, lambda code, _line: stopped.add(code.co_name)
    )
    for code in codes:
        monitoring.set_local_events(monitoring.DEBUGGER_ID, code, monitoring.events.LINE)
    try:
        yield
    finally:
        for code in codes:
            monitoring.set_local_events(monitoring.DEBUGGER_ID, code, 0)
        monitoring.register_callback(monitoring.DEBUGGER_ID, monitoring.events.LINE, None)
        monitoring.free_tool_id(monitoring.DEBUGGER_ID)


WAYS: dict[str, Callable[[set[str]], Any]] = {"settrace": traced}
CORES = ["ctrace"]
if sys.version_info >= (3, 12):
    WAYS["monitoring"] = monitored
    CORES.append("sysmon")


@pytest.mark.parametrize("way", WAYS)
def test_breakpoints_stop_in_every_method(maloko: Kit, way: str) -> None:
    stopped: set[str] = set()
    with WAYS[way](stopped):
        life(maloko)
    assert stopped == set(METHODS)


def script(directory: Path, text: str = "life(Kit())\n") -> Path:
    """A program that goes through the provider's life."""
    shutil.copy(FILE, directory)
    imports = "from every_method import EveryMethod\n\nfrom maloko.testing import Kit\n\n\n"
    file = directory / "life.py"
    file.write_text(imports + inspect.getsource(life) + "\n\n" + textwrap.dedent(text))
    return file


LISTENING = """
import pathlib
import debugpy

pathlib.Path("port").write_text(f"{debugpy.listen(0)[1]}\\n")
debugpy.wait_for_client()
import life
"""


# In Python alone: pytest and Python's debuggers
@pytest.mark.nightly
def test_breakpoints_of_debugpy_stop_in_every_method(tmp_path: Path) -> None:
    script(tmp_path)
    (tmp_path / "debugged.py").write_text(LISTENING)
    # What the test itself runs under is none of the process's.
    environment = {**os.environ, "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    with subprocess.Popen([sys.executable, "debugged.py"], cwd=tmp_path, env=environment) as process:
        try:
            client = dap.Client.when_it_listens(tmp_path / "port", process)
            lines = [inspect.getsourcelines(getattr(EveryMethod, method))[1] + 1 for method in METHODS]
            client.attach(tmp_path / FILE.name, lines)
            stops = client.stops()
            client.close()
            assert process.wait(dap.SECONDS) == 0
        finally:
            process.kill()
    assert set(stops) == set(METHODS)


# In Python alone: pytest and Python's debuggers
def test_a_breakpoint_in_a_method_opens_pdb(tmp_path: Path) -> None:
    file = script(
        tmp_path,
        """
        create = EveryMethod.create

        def stopping(self, props):
            breakpoint()
            return create(self, props)

        EveryMethod.create = stopping
        life(Kit())
        """,
    )
    commands = "p 'the size is', props['size']\nc\n"
    done = subprocess.run(
        [sys.executable, str(file)], input=commands, cwd=tmp_path, text=True, capture_output=True, check=True
    )
    assert "('the size is', 1" in done.stdout


@pytest.mark.parametrize("core", CORES)
def test_coverage_is_that_of_direct_calls(tmp_path: Path, core: str) -> None:
    script(tmp_path)
    Path(tmp_path, "direct.py").write_text(
        textwrap.dedent(
            """
            from every_method import EveryMethod
            from pulumi.dynamic import Config, ConfigureRequest

            provider = EveryMethod()
            provider.configure(ConfigureRequest(Config({}, "project")))
            provider.check({}, {"size": 1})
            provider.create({"size": 1})
            provider.diff("made", {"size": 1}, {"size": 2})
            provider.update("made", {"size": 1}, {"size": 2})
            provider.read("made", {"size": 2})
            provider.delete("made", {"size": 2})
            """
        )
    )
    environment = {**os.environ, "COVERAGE_CORE": core}
    tool = [sys.executable, "-m", "coverage"]
    reports = []
    for name in ("life.py", "direct.py"):
        for arguments in (["run", "--include=every_method.py", name], ["json", "-q", "-o", "covered.json"]):
            subprocess.run([*tool, *arguments], check=True, cwd=tmp_path, env=environment)
        reports.append(json.loads((tmp_path / "covered.json").read_text())["files"]["every_method.py"])
    engine, direct = reports
    assert engine["executed_lines"] == direct["executed_lines"]
    # Nothing was refused: that line is the only one that did not run.
    refusal = (
        inspect.getsource(every_method)
        .splitlines()
        .index('            failures.append(CheckFailure("size", "it is less than nothing"))')
    )
    assert engine["missing_lines"] == [refusal + 1]
