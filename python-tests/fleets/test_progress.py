"""Where a run stands, as its workflow and the server say it one after the other."""

import pytest

from maloko.fleet._progress import StackProgress, counts_with

NONE = {"running": 0, "retrying": 0, "waiting": 0}


def waiting(attempt: int) -> StackProgress:
    return StackProgress("t0", "", attempt, is_running=False, done=None, total=None, failure="", seconds=0.0)


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
    assert counts_with(NONE | counts, [waiting(attempt) for attempt in attempts]) == NONE | expected
