"""Programs that are functions of a file: `tenant.py:program`."""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from maloko._process.tracebacks import format_program_error
from maloko.fleet._ends import FleetError

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
        except Exception as error:
            told = format_program_error(error).split("\n", 1)[0]
            raise FleetError(f"the program {place} cannot be imported: {told}") from error
    found = getattr(module, "__file__", None)
    if found is None or Path(found).resolve() != (root / path).resolve():
        raise FleetError(f"the program {place}: another module has the name '{module_name}' ({found}); rename the file")
    program = getattr(module, name, None)
    if not callable(program):
        raise FleetError(f"the program {place}: {file} has no function '{name}'")
    return program  # type: ignore[no-any-return]
