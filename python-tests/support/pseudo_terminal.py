"""Runs a command on a pseudo-terminal of its own: what is written to stdin is typed there, stdout is what it shows.

Used by the tests of both languages: `python pseudo_terminal.py COMMAND ARGUMENTS...`. Ends with the command's exit
code.
"""

import fcntl
import os
import pty
import select
import struct
import sys
import termios

RESOURCES, COLUMNS = 40, 120


def main(command: list[str]) -> int:
    """Runs the command until it has ended and all that it wrote is passed on."""
    pid, terminal = pty.fork()
    if pid == 0:
        # The command must not begin before the terminal has its size.
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", RESOURCES, COLUMNS, 0, 0))
        os.execvp(command[0], command)
    typing = True
    while True:
        ready, _, _ = select.select([terminal, 0] if typing else [terminal], [], [])
        if 0 in ready:
            typed = os.read(0, 4096)
            typing = bool(typed)
            os.write(terminal, typed)
        if terminal in ready:
            try:
                shown = os.read(terminal, 65536)
            except OSError:  # the last process has closed it
                shown = b""
            if not shown:
                break
            os.write(1, shown)
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
