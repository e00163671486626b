"""The files that a program was loaded from, for `maloko watch`."""

from __future__ import annotations

import contextlib
import os
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path


def list_loaded_files(target: Path, error: BaseException | None) -> None:
    """Lists in a file what the program was loaded from. `error` is what it failed with."""
    found = {os.path.realpath(file) for file in (*_of_modules(), *_of_error(error)) if Path(file).is_absolute()}
    own = _not_of_programs()
    with contextlib.suppress(OSError):  # without the list, the files of earlier runs go on to count
        target.write_bytes(b"\0".join(os.fsencode(file) for file in sorted(found) if not file.startswith(own)))


def _not_of_programs() -> tuple[str, ...]:
    """The directories of the standard library and of this package."""
    places = (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), Path(__file__).parent.parent)
    return tuple(os.path.realpath(place) + os.sep for place in places)


def _of_modules() -> Iterator[str]:
    for module in list(sys.modules.values()):
        try:
            # A module that is loaded when it is first used would be loaded by being asked.
            file = object.__getattribute__(module, "__dict__").get("__file__")
        except AttributeError:  # programs put other objects there, too
            continue
        if isinstance(file, str):
            yield file


def _of_error(error: BaseException | None) -> Iterator[str]:
    """The files whose code has failed: modules that could not be loaded are none afterwards."""
    seen: set[int] = set()
    open_errors = [error]
    while open_errors:
        error = open_errors.pop()
        if error is None or id(error) in seen:
            continue
        seen.add(id(error))
        open_errors += [error.__cause__, error.__context__]
        if isinstance(error, SyntaxError) and isinstance(error.filename, str):
            yield error.filename
        place = error.__traceback__
        while place is not None:
            yield place.tb_frame.f_code.co_filename
            place = place.tb_next
