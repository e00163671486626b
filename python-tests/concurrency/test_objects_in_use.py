"""Provider objects are read while methods of other runs, on other threads, change them."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from maloko._providers.attributes import attributes_of
from maloko._providers.changed_variables import captured_by
from maloko._providers.copies import copy_of
from maloko._sdk.captured_outputs import captured_outputs

ROUNDS = 300


class Tenant:
    """A provider that notes what it has seen, as many do."""

    def __init__(self) -> None:
        self.seen: dict[str, list[int]] = {}
        self.order = list(range(50))


@pytest.fixture
def tenant() -> Iterator[Tenant]:
    """An object that another thread changes all the time."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    tenant, ended = Tenant(), threading.Event()

    def change() -> None:
        number = 0
        while not ended.is_set():
            number += 1
            tenant.seen[str(number % 97)] = [number]
            tenant.seen.pop(str((number * 31) % 97), None)
            setattr(tenant, f"note_{number % 89}", number)
            vars(tenant).pop(f"note_{(number * 13) % 89}", None)

    thread = threading.Thread(target=change)
    thread.start()
    yield tenant
    ended.set()
    thread.join()
    sys.setswitchinterval(before)


# In Python alone: Python's parser and event loop meet other threads; Node has one thread per program
@pytest.mark.parametrize(
    "read",
    [
        lambda tenant: captured_by(tenant, {}),
        attributes_of,
        lambda tenant: copy_of(tenant.seen),
        captured_outputs,
    ],
    ids=["variables", "attributes", "copies", "outputs"],
)
def test_an_object_that_another_thread_changes_is_read_all_the_same(
    tenant: Tenant, read: Callable[[Any], object]
) -> None:
    for _ in range(ROUNDS):
        read(tenant)
