"""The native module is loaded and used again and again, and nothing of it is left behind."""

import gc
import os
import subprocess
import sys
import threading

from held import Held, settled
from kit import Echo, Thing
from stacks import Stack

CYCLES = int(os.environ.get("MALOKO_CYCLES", "20"))


def cycle() -> None:
    outcomes = []
    # Those of other tests may be there for good.
    before = set(threading.enumerate())
    thread = threading.Thread(target=lambda: outcomes.append(Stack().up(lambda: Thing(Echo(), "a")).outcome))
    thread.start()
    thread.join()
    assert outcomes == ["succeeded"]
    for worker in set(threading.enumerate()) - before:
        worker.join(timeout=10)


def test_threads_that_come_and_go_leave_no_threads_and_no_descriptors() -> None:
    # The first rounds load what stays.
    for _ in range(3):
        cycle()
    gc.collect()
    before = Held.now()
    for _ in range(CYCLES):
        cycle()
    gc.collect()
    after = settled(before)
    assert after.is_as(before), (before, after)


SUBINTERPRETER = """
import sys
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
number = interpreters.create()
script = "import sys; sys.path = " + repr(sys.path) + "; import maloko._maloko"
try:
    failed = interpreters.run_string(number, script)
except Exception as error:
    failed = error
print(getattr(failed, "formatted", failed))
"""


# In Python alone: a process that forks takes the engine with it, and Python has sub-interpreters
def test_a_sub_interpreter_is_refused_clearly() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SUBINTERPRETER], capture_output=True, text=True, timeout=60, check=False
    )
    said = done.stdout + done.stderr
    assert "maloko works in the main interpreter only, and not in subinterpreters" in said
