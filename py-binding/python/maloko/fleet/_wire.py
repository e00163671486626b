"""What a run of a fleet passes between processes and languages: JSON, with the names that both languages use."""

from __future__ import annotations

from typing import Literal, TypedDict

Outcome = Literal["done", "unchanged", "failed", "skipped", "cancelled"]
"""How a stack of a run ended. `unchanged`: nothing had to be done."""


RUN = "maloko.FleetRun"
"""The name of the workflow."""
STACK = "maloko.fleet.stack"
"""The name of a stack's activity."""
STACKS = "maloko.fleet.stacks"
"""That of the activity for several."""
ATTEMPTS_A_START = 10_000
"""Numbers between two starts of a stack: the attempts of one of them, which the server counts."""


class Secret(TypedDict):
    """Where a worker reads a value that is secret: `{"env": NAME}` or `{"file": PATH}`."""

    secretFrom: dict[str, str]


class StackSpec(TypedDict):
    """A stack of a run, as the plan has it."""

    id: str
    project: str
    stack: str
    program: str
    """Relative to the directory of the fleet: a directory, or `FILE:NAME` (Python) or `FILE#NAME` (Node)."""
    inline: bool
    language: str
    labels: dict[str, str]
    config: dict[str, str | Secret]
    needs: list[str]
    wave: int
    queue: str


class Wave(TypedDict):
    """A part of a run that begins when the one before has ended."""

    name: str
    pause: float
    """Seconds before it begins."""
    unlessFailed: int | None
    """The run stops here when so many stacks have failed."""


class Limits(TypedDict):
    """How much may go on at a time."""

    atATime: int | None
    each: dict[str, int]
    """By label: so many stacks at a time with the same value of it."""
    startsPerSecond: dict[str, float]


class Retry(TypedDict):
    """What is tried again when a provider fails; waits are seconds."""

    provider: int
    firstWait: float
    longestWait: float


class Engine(TypedDict):
    """The server; what is not said is left to Temporal's own variables and profiles."""

    address: str
    namespace: str


class Place(TypedDict):
    """A fleet, as those know it who need no plan."""

    name: str
    engine: Engine | None


class Schedule(TypedDict):
    """A run that begins by itself; times are seconds."""

    every: float
    jitter: float
    verb: str
    previewOnly: bool
    select: list[str]


class Keep(TypedDict):
    """How much of each stack's past is kept; `None`: as the worker's environment says."""

    history: int | None
    generations: int | None


class PlanDetails(TypedDict, total=False):
    """What some plans have."""

    warnings: list[str]
    """What to know before the run begins, in a line each."""


class Plan(PlanDetails):
    """A run, as the fleet's file says it."""

    fleet: str
    verb: str
    hash: str
    directory: str
    engine: Engine | None
    backend: str | None
    key: str
    code: dict[str, str]
    stacks: list[StackSpec]
    waves: list[Wave]
    limits: Limits
    retry: Retry
    stopAfter: int | None
    heartbeat: float
    deadline: float
    schedules: dict[str, Schedule]
    keep: Keep


class EndDetails(TypedDict, total=False):
    """What is known of some ends only."""

    urn: str | None
    """The resource that failed first."""
    method: str | None
    """The provider's method that failed."""
    retryAfter: float | None
    """Seconds that the provider asks to wait."""
    needs: str | None
    """The stack that it refers to and that is not there: `project/stack`."""
    read: list[str]
    """The other stacks that its program has read: `project/stack`."""
    warnings: list[str]
    """The first warnings of its last operation, in a line each, without secrets."""
    differences: list[str]
    """Of a preview or a look for drift, the first differences, in a line each, without secrets."""
    worker: str
    outputs: dict[str, object]


class StackEnd(EndDetails):
    """What came of a stack."""

    id: str
    outcome: Outcome
    changes: dict[str, int]
    reason: str
    """The kind of failure (`maloko.automation.Reason`), `needs` or `stopped` for what was skipped; else empty."""
    text: str
    """One line, without secrets."""
    attempts: int
    seconds: float


class Later(TypedDict):
    """A stack that waits until a time."""

    id: str
    at: float


class NextStart(TypedDict):
    """When the next stack with a value of a label may begin."""

    label: str
    value: str
    at: float


class CourseState(TypedDict):
    """Where a run stands between two of its executions, when nothing is running."""

    ends: list[StackEnd]
    tries: dict[str, int]
    later: list[Later]
    """Those that a provider failed for."""
    turns: list[Later]
    """Those whose start a rate has put off."""
    awaits: dict[str, list[str]]
    """What a stack was found to need, the last one last."""
    changes: dict[str, dict[str, int]]
    """What the earlier starts of a stack have changed."""
    givenUp: list[str]
    """Stacks whose first start was given up with its batch."""
    nextStarts: list[NextStart]
    wave: int
    waveBegins: float
    paused: bool
    stopped: str


class Order(TypedDict):
    """The input of a run's workflow."""

    plan: Plan
    options: RunOptions
    began: float
    """When the run began, seconds since 1970; 0: now."""
    state: CourseState | None


class RunOptions(TypedDict):
    """What a run does beside its verb."""

    previewOnly: bool
    outputs: bool
    message: str
    importFile: str
    """Where what a stack takes over is listed, such as `imports/{stack}.json`; empty for other verbs."""


class Work(TypedDict):
    """What the activities of a run have in common."""

    fleet: str
    run: str
    """The same for all attempts at it."""
    verb: str
    options: RunOptions
    backend: str | None
    key: str
    keep: Keep
    heartbeat: float


class Launch(Work):
    """The input of a stack's activity."""

    number: int
    """Rises with each start of the stack in this run, before the attempts of the activity itself."""
    stack: StackSpec


class Batch(Work):
    """The input of an activity for several stacks, of which none has begun before."""

    stacks: list[StackSpec]
    seconds: float
    """After so long the worker begins no other one of them."""


class BatchEnd(TypedDict):
    """What a worker made of a batch. Stacks of which nothing is said were not begun."""

    ends: list[StackEnd]
    """Those of its first stacks."""
    interrupted: dict[str, int] | None
    """What the one after those has changed, where it was begun and may succeed when it is begun again."""


class RunEndDetails(TypedDict, total=False):
    """What runs of earlier versions do not say at their end."""

    began: float
    wave: int
    waves: int


class RunEnd(RunEndDetails):
    """What a run's workflow gives at its end."""

    fleet: str
    verb: str
    outcome: str
    stopped: str
    seconds: float
    counts: dict[str, int]
    ends: list[StackEnd]


SHOWN = 10
"""Failures, and stacks that wait, that a run's workflow tells of when it is asked for its progress."""


def is_success(outcome: Outcome) -> bool:
    """Is a stack that ended so as it was asked for?"""
    return outcome in ("done", "unchanged")


def verb_of(plan: Plan, options: RunOptions) -> str:
    """The verb as users have it: a refresh that changes nothing is `drift`."""
    return "drift" if plan["verb"] == "refresh" and options["previewOnly"] else plan["verb"]
