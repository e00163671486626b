"""Where a run stands, as its workflow and the server say it one after the other."""

import pytest

from maloko.fleet._progress import StackProgress, counts_with
from maloko.fleet._queues import stack_of

NONE = {"running": 0, "retrying": 0, "waiting": 0}


def at_work(attempt: int = 1, others: int = 0, *, is_running: bool = False) -> StackProgress:
    return StackProgress("t0", "", attempt, is_running, None, None, failure="", seconds=0.0, others=others)


@pytest.mark.parametrize(
    ("counts", "attempts", "expected"),
    [
        ({"running": 3}, [1, 2], {"running": 1, "retrying": 1, "waiting": 1}),
        ({"running": 1, "waiting": 1}, [1, 1], {"waiting": 2}),
        ({"waiting": 2}, [1, 1], {"waiting": 2}),
    ],
)
def test_what_begins_between_both_answers_is_counted_once(
    counts: dict[str, int], attempts: list[int], expected: dict[str, int]
) -> None:
    assert counts_with(NONE | counts, [at_work(attempt) for attempt in attempts]) == NONE | expected


def test_of_a_batch_one_stack_runs_and_the_others_wait() -> None:
    pending = [at_work(others=3, is_running=True), at_work(others=2)]

    # One stack more runs by itself, and one waits.
    counts = counts_with(NONE | {"running": 8, "waiting": 1}, pending)

    assert counts == NONE | {"running": 2, "waiting": 7}


@pytest.mark.parametrize(
    ("name", "expected"),
    [("shop/acme", ("shop/acme", 0)), ("shop/acme/2", ("shop/acme", 0)), ("shop/acme +7", ("shop/acme", 7))],
)
def test_the_servers_name_of_the_work_on_stacks_says_which_they_are(name: str, expected: tuple[str, int]) -> None:
    assert stack_of(name) == expected
