"""What the command line asks for."""

from __future__ import annotations

from typing import TypedDict

from maloko.fleet._plan import Fleet
from maloko.fleet._wire import Place


class Request(TypedDict, total=False):
    """The arguments of a command; each has those that mean something for it."""

    command: str
    file: str
    directory: str
    select: list[str]
    stacks: list[str]
    atATime: int | None
    stopAfter: str | None
    detach: bool
    yes: bool
    workers: int
    cancelOnInterrupt: bool
    message: str | None
    importFile: str
    outputs: bool
    json: bool
    run: str | None
    stack: str | None
    output: str | None
    queues: list[str]
    slots: int
    processes: int
    port: int
    uiPort: int
    apply: bool
    interactive: bool
    columns: int


def fleet_of(asked: Request) -> Fleet:
    """The fleet of the command's file."""
    return Fleet(asked["file"])


def place_of(asked: Request) -> Place:
    """The name of the fleet, and its server."""
    return fleet_of(asked)._place()
