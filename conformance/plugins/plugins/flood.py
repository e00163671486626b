"""Runs a plugin that never stops talking: `flood.py PLUGIN ARGUMENT...`.

Before the plugin begins, it writes one line of 128 MB to stderr and then to `$FLOOD_GROWN` by how many KB the memory of
its engine has grown meanwhile. From then on it writes lines to stderr without end.
"""

import os
import runpy
import sys
import threading
from pathlib import Path

LINE = "a line that nobody asked for\n"


def peak():
    """How much memory the parent has had at most, in KB."""
    lines = Path(f"/proc/{os.getppid()}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


def flood():
    while True:
        sys.stderr.write(LINE * 10)


before = peak()
sys.stderr.write("x" * (128 << 20) + "\n")
sys.stderr.flush()
Path(os.environ["FLOOD_GROWN"]).write_text(str(peak() - before))
threading.Thread(target=flood, daemon=True).start()
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
