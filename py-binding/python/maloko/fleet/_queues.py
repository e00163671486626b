"""The names of task queues, and of what waits there.

Who asks at a queue gets its work, so a queue's name holds all that a worker has to agree with.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from maloko._maloko import VERSION

FLOW_LANGUAGE = "python"


def is_flow_queue(name: str, fleet: str) -> bool:
    """Is it a queue of this fleet's runs, of whichever language and version?"""
    return name.startswith(f"maloko.{fleet}.flow.")


def flow_queue(fleet: str, language: str = FLOW_LANGUAGE) -> str:
    """Where the workflows of runs wait: the code that began one replays it, of one language and version."""
    return f"maloko.{fleet}.flow.{language}.{VERSION}"


def stack_queue(fleet: str, queue: str, language: str, code: str) -> str:
    """Where stacks wait, for workers that have this code."""
    return f"maloko.{fleet}.{queue}.{language}.{code}"


class WorkerPrograms(NamedTuple):
    """What a worker has, as the name says by which it asks for the workflows of runs. The server lists such names."""

    worker: str
    code: str
    queues: Sequence[str]

    def name(self) -> str:
        """The name that says so."""
        return " ".join((self.worker, self.code, ",".join(self.queues)))

    @classmethod
    def of_name(cls, name: str) -> WorkerPrograms | None:
        """What such a name says; nothing where it is another one."""
        words = name.split(" ", 2)
        return cls(words[0], words[1], words[2].split(",")) if len(words) == 3 else None


def batch_id(first: str, others: int) -> str:
    """The name under which the server has the work on a stack and on so many others after it."""
    return f"{first} +{others}"


def stack_of(activity_id: str) -> tuple[str, int]:
    """Of which stack the server tells by such a name, and how many others are there after it."""
    name, _, others = activity_id.partition(" +")
    # The number of a start that is not the first one.
    return (name.rsplit("/", 1)[0] if name.count("/") > 1 else name), int(others or 0)
