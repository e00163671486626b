"""The standard descriptors and streams of a process that was started without some of them (`maloko up >&-`)."""

from __future__ import annotations

import os
import sys
from typing import TextIO, cast


def open_standard_streams() -> None:
    """Opens on the null device each of the descriptors 0, 1 and 2 that is closed, with the stream that belongs to it.

    Otherwise the next file to be opened gets the number, a file of the engine's among them, and what is shown is
    written into it. For the process of a command line, before anything else is opened.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        _open_descriptor(number)
        if getattr(sys, name) is None:
            # As the interpreter does it: what is printed and cannot be encoded must not fail.
            errors = "backslashreplace" if mode == "w" else "replace"
            stream = cast(TextIO, open(number, mode, encoding="utf-8", errors=errors, closefd=False))  # noqa: SIM115
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)


def _open_descriptor(number: int) -> None:
    try:
        os.fstat(number)
    except OSError:
        opened = os.open(os.devnull, os.O_RDWR)
        if opened == number:
            # Child processes have standard descriptors too.
            os.set_inheritable(number, True)
        else:
            os.dup2(opened, number)
            os.close(opened)
