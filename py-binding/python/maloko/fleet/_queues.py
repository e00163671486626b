"""The names of task queues. Who asks at a queue gets its work, so a name holds all that a worker has to agree with."""

from __future__ import annotations

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
