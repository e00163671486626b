"""Programs of stacks: functions of a file, such as `tenant.py:program`, and directories with a Pulumi.yaml."""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from maloko._errors import MalokoError
from maloko._process.tracebacks import format_program_error
from maloko._run.program import find_main
from maloko.automation import _settings as settings_files
from maloko.fleet._ends import FleetError
from maloko.fleet._wire import StackSpec

_MEND = "mend the program, or install what it imports, and start the worker again"

_lock = threading.Lock()
"""Two stacks of one program begin at the same time."""


def load_program(root: Path, place: str) -> Callable[[], Any]:
    """The function, from a module that has the name of its path below the fleet's directory, which joins `sys.path`.

    :raises FleetError: when the file cannot be imported, or has no such function
    """
    file, _, name = place.rpartition(":")
    path = Path(file)
    if path.suffix != ".py" or path.is_absolute() or ".." in path.parts:
        raise FleetError(f"the program {place} is no FILE.py:FUNCTION below the directory of the fleet")
    with _lock:
        if str(root) not in sys.path:
            sys.path.insert(0, str(root))
        module_name = ".".join(path.with_suffix("").parts)
        try:
            module = importlib.import_module(module_name)
        except (Exception, SystemExit) as error:
            told = format_program_error(error).split("\n", 1)[0]
            raise FleetError(f"the program {place} cannot be imported: {told}") from error
    found = getattr(module, "__file__", None)
    if found is None or Path(found).resolve() != (root / path).resolve():
        raise FleetError(f"the program {place}: another module has the name '{module_name}' ({found}); rename the file")
    program = getattr(module, name, None)
    if not callable(program):
        raise FleetError(f"the program {place}: {file} has no function '{name}'")
    return program  # type: ignore[no-any-return]


def load_programs(root: Path, stacks: Iterable[StackSpec]) -> list[str]:
    """Loads the programs of stacks, for with the first stack there is no time for that; looks for those that are
    directories. Gives a warning for each that cannot be loaded, where others can.

    :raises FleetError: when none of them can be loaded
    """
    projects: dict[str, set[str]] = {}
    wrong: dict[str, str] = {}
    for stack in stacks:
        place = stack["program"]
        if place not in projects:
            try:
                if stack["inline"]:
                    load_program(root, place)
                else:
                    _find_main(root, place)
            except FleetError as error:
                wrong[place] = str(error)
        projects.setdefault(place, set()).add(stack["project"])
    if wrong and len(wrong) == len(projects):
        raise FleetError(_none_of(list(wrong.values())))
    return [
        f"{error}. Stacks of {_project_words(projects[place])} fail at this worker: {_MEND}"
        for place, error in wrong.items()
    ]


def _find_main(root: Path, place: str) -> None:
    """The program of a directory runs in a process of its own, and is not loaded here."""
    file = settings_files.file_of(str(root / place), "Pulumi")
    main = None if file is None else settings_files.read(file).get("main")
    try:
        find_main(root / place / (main if isinstance(main, str) else ""))
    except MalokoError as error:
        raise FleetError(f"the program {place} cannot be loaded: {error}") from error


def _none_of(errors: list[str]) -> str:
    if len(errors) == 1:
        return f"{errors[0]}\nThis worker has no other program, and ends: {_MEND}"
    return f"{errors[0]}\nThis worker can load none of its {len(errors)} programs, and ends: {_MEND}"


def _project_words(names: set[str]) -> str:
    listed = ", ".join(f"'{name}'" for name in sorted(names))
    return f"the project {listed}" if len(names) == 1 else f"the projects {listed}"
