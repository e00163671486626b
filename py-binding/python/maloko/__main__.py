"""The command line."""

from __future__ import annotations

import sys


def run(arguments: list[str], *, helper: bool = True) -> int:
    """Runs the command line with these arguments and returns its exit code."""
    from maloko._front import Front
    from maloko._host import Host
    from maloko._maloko import cli_main
    from maloko._passes import fork_helper

    child = fork_helper(arguments, lambda more: run(more, helper=False)) if helper else None
    code = cli_main(arguments, Front(child), Host())
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            continue
    return code


def main() -> None:
    """The console script `maloko`."""
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
