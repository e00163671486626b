"""Measures how long two SDKs of one package take to import, after the Pulumi SDK itself.

    import_time_python.py OFFICIAL OURS MODULE... [--most RATIO]

OFFICIAL and OURS are folders that hold the package, or `-` for the one that is installed. Each import is the median of
several new processes with compiled files. With `--most`, the exit status is 1 where ours takes more than this part of
the official one's time.
"""

import argparse
import os
import statistics
import subprocess
import sys

PROCESSES = 9


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("official")
    arguments.add_argument("ours")
    arguments.add_argument("modules", nargs="+")
    arguments.add_argument("--most", type=float)
    given = arguments.parse_args()
    faults = 0
    for module in given.modules:
        official, ours = milliseconds(given.official, module), milliseconds(given.ours, module)
        ratio = ours / official
        faults += given.most is not None and ratio > given.most
        print(f"{module}: official {official:.1f} ms, ours {ours:.2f} ms, ratio {ratio:.3f}")
    return 1 if faults else 0


def milliseconds(folder, module):
    path = "" if folder == "-" else f"sys.path.insert(0, {folder!r}); "
    measured = f"start = time.perf_counter(); import {module}; print(time.perf_counter() - start)"
    command = [sys.executable, "-W", "ignore", "-c", f"import sys, time; {path}import pulumi; {measured}"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    # The first one compiles the files.
    times = [float(subprocess.check_output(command, env=environment, text=True)) for _ in range(PROCESSES + 1)]
    return 1000 * statistics.median(times[1:])


if __name__ == "__main__":
    sys.exit(main())
