"""Which stacks of a run begin next, and what becomes of the others: order, waves, limits, retries and the stop rule.

It knows no engine and no clock: times are given to it, in seconds. The workflow of a run drives it, so it has to do
the same whenever it is given the same. `node-binding/ts/fleet/course/course.ts` is its twin;
`conformance/fleets/course.json` holds both to one meaning.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from maloko.fleet._course._batches import Batches, is_for_same_workers
from maloko.fleet._course._earlier_changes import EarlierChanges
from maloko.fleet._course._needs import Needs
from maloko.fleet._course._rates import Rates
from maloko.fleet._course._room import Room
from maloko.fleet._course._starts import Starts
from maloko.fleet._course._waits import Waits
from maloko.fleet._course._waves import Waves
from maloko.fleet._wire import BatchEnd, CourseState, Later, Outcome, Plan, StackEnd, StackSpec, is_success

Start = tuple[StackSpec, int]
"""A stack that begins, and the number of the start."""

_WORDS: dict[Outcome, str] = {"failed": "failed", "skipped": "was skipped", "cancelled": "was cancelled"}


def outcome_of(counts: dict[str, int]) -> str:
    """How a run ended whose stacks ended so: `done`, `failed` or `cancelled`."""
    return "cancelled" if counts["cancelled"] else "failed" if counts["failed"] or counts["skipped"] else "done"


class Course:
    """A run, from its plan to the end of its last stack."""

    def __init__(self, plan: Plan, state: CourseState | None = None, now: float = 0.0) -> None:
        self._plan = plan
        self._stacks = plan["stacks"]
        self._place = {stack["id"]: place for place, stack in enumerate(self._stacks)}
        self._needs = Needs(self._stacks)
        self._starts = Starts(state)
        self._waves = Waves(plan["waves"], now)
        self._ready: list[int] = []
        self._room = Room(plan["limits"])
        self._waits = Waits()
        self._earlier = EarlierChanges(state["changes"] if state else None)
        self._numbers: dict[str, int] = {}
        """How many had ended when each did."""
        self._known: dict[str, int] = {}
        """How many had ended when each of those that are at work began."""
        self._batches = Batches(plan["limits"])
        self._rates = Rates(plan["limits"]["startsPerSecond"], state["nextStarts"] if state else ())
        self.ends: dict[str, StackEnd] = {}
        """By stack, in the order in which they ended."""
        self.failed = 0
        self.running: set[str] = set()
        """Those that workers were given."""
        self.paused = False
        self.stopped = ""
        """Why nothing begins any more."""
        self._left_as: tuple[Outcome, str, str] = ("skipped", "stopped", "")
        """Outcome, reason and text of those that a stop has kept from their beginning."""
        if state is not None:
            self._go_on_from(state)

    @property
    def is_over(self) -> bool:
        """Has every stack ended?"""
        return len(self.ends) == len(self._stacks)

    @property
    def is_idle(self) -> bool:
        """Is nothing at work?"""
        return not self.running

    @property
    def wave(self) -> int:
        """The wave that goes on, from 0."""
        return max(self._waves.at, 0)

    def launches(self, now: float) -> list[list[Start]]:
        """The stacks that begin now; they count as running from here on.

        Those of a batch go to one worker, which does one after the other, and end together: `batch_ended`.
        """
        begun: list[list[Start]] = []
        if self.paused:
            return begun
        if not self.stopped:
            self._begin_waves(now)
        for place in self._waits.over(now):
            heapq.heappush(self._ready, place)
        while self._ready and self._room.has_slot:
            place = heapq.heappop(self._ready)
            stack = self._stacks[place]
            # In a run that has stopped, only those are left that were given up with their batch.
            if self._has_ended(place):
                continue
            if self._room.park(place, stack) or self._waits_for_turn(place, stack, now):
                self._look_again_at(self._room.drawn_for(stack))
                continue
            self._room.take(stack)
            start = self._begin(place)
            begun.append([start, *self._others_with(start, now)])
        stands = not begun and not self.running and self._waits.next is None
        if stands and not self.stopped and self._waves.begins <= now:
            self._end_circles(now)
        return begun

    def wait(self, now: float) -> float | None:
        """Seconds after which something may begin although nothing ends until then; `None`: never."""
        if self.paused or self.stopped or self.is_over:
            return None
        times = [] if self._waits.next is None else [self._waits.next]
        if self._waves.following is not None:
            times.append(self._waves.begins)
        return max(min(times) - now, 0.0) if times else None

    def ended(self, end: StackEnd, now: float) -> None:
        """A stack that was given to a worker by itself has ended."""
        self._look_again_at(self._room.leave(self._stacks[self._place[end["id"]]]))
        self._comes_to(end, now)

    def batch_ended(self, names: list[str], told: BatchEnd | None, now: float) -> None:
        """A batch has ended, with some of its stacks or all; the others begin again.

        :param told: what its worker says; nothing where that was lost, so that any of them may have begun
        """
        self._look_again_at(self._room.leave(self._stacks[self._place[names[0]]]))
        ends = [] if told is None else told["ends"]
        for at, end in enumerate(ends):
            self._comes_to(end, now, before=names[:at])
        changes = None if told is None else told["interrupted"]
        for at, name in enumerate(names[len(ends) :]):
            if changes is not None and at == 0:
                self._earlier.add_changes(name, changes)
            self._give_back(name, may_have_begun=told is None or (changes is not None and at == 0), now=now)

    def _comes_to(self, end: StackEnd, now: float, before: Sequence[str] = ()) -> None:
        """A stack has ended; those before it in its batch had ended when it began."""
        stack = self._stacks[self._place[end["id"]]]
        self.running.remove(stack["id"])
        if not self.stopped and self._goes_on(stack, end, before, now):
            self._earlier.add(end)
            return
        self._batches.learn(end, now)
        self._finish(self._earlier.in_all(end), now)
        limit = self._plan["stopAfter"]
        if limit is not None and self.failed >= limit and not self.is_over:
            self.stop(f"{self.failed} failed, and the run stops after {limit}", "skipped", now)

    def _give_back(self, name: str, *, may_have_begun: bool, now: float) -> None:
        """A stack of a batch has not ended; one that may have begun gets the next number, and so goes by itself."""
        self.running.remove(name)
        if may_have_begun:
            self._starts.give_up(name)
        else:
            self._starts.take_back(name)
        goes_on = may_have_begun and self._left_as[0] != "cancelled"
        if self.stopped and not goes_on:
            self._leave_out(self._stacks[self._place[name]], now)
        else:
            heapq.heappush(self._ready, self._place[name])

    def stop(self, why: str, outcome: Outcome, now: float) -> None:
        """Nothing begins any more; what has begun goes on, but for a cancellation. The others end with this outcome."""
        if self.stopped and outcome != "cancelled":
            return
        self.stopped = self.stopped or why
        self._left_as = (outcome, "cancelled" if outcome == "cancelled" else "stopped", why)
        for stack in self._stacks:
            if stack["id"] not in self.ends and stack["id"] not in self.running:
                self._leave_out(stack, now)

    def _leave_out(self, stack: StackSpec, now: float) -> None:
        self._finish(self._unbegun(stack, *self._left_as), now, alone=True)

    def counts(self) -> dict[str, int]:
        """How many stacks are where."""
        counts = dict.fromkeys(("done", "unchanged", "failed", "skipped", "cancelled"), 0)
        for end in self.ends.values():
            counts[end["outcome"]] += 1
        counts["running"] = len(self.running)
        counts["retrying"] = len(self._waits.retrying)
        counts["waiting"] = len(self._stacks) - len(self.ends) - len(self.running) - counts["retrying"]
        return counts

    def retries(self) -> list[tuple[str, float, int]]:
        """The stacks that wait after a failure: until when, and which attempt at their provider comes then."""
        waits = [(self._stacks[place]["id"], at) for at, place in self._waits.retrying]
        return [(name, at, self._starts.failures(name) + 1) for name, at in waits]

    def state(self) -> CourseState:
        """Where it stands; for a time in which nothing is running."""
        return {
            "ends": list(self.ends.values()),
            **self._starts.state(self.ends),
            "later": self._named(self._waits.retrying),
            "turns": self._named(self._waits.turns),
            "changes": self._earlier.state(self.ends),
            "nextStarts": self._rates.state(),
            "wave": self._waves.at,
            "waveBegins": self._waves.begins,
            "paused": self.paused,
            "stopped": self.stopped,
        }

    def _named(self, waits: list[tuple[float, int]]) -> list[Later]:
        return [{"id": self._stacks[place]["id"], "at": at} for at, place in waits]

    # Order and waves.

    def _begin_waves(self, now: float) -> None:
        while (following := self._waves.following) is not None and self._waves.begins <= now:
            limit = following["unlessFailed"]
            if limit is not None and self.failed >= limit:
                self.stop(f"{self.failed} failed before {following['name']}", "skipped", now)
                return
            self._enter(self._waves.begin())
            self._waves.settle(now)

    def _enter(self, wave: int) -> None:
        for place, stack in enumerate(self._stacks):
            if stack["wave"] == wave and stack["id"] not in self.ends:
                self._waves.enter(place)
                if self._needs.are_met(place):
                    heapq.heappush(self._ready, place)

    # Limits.

    def _look_again_at(self, places: list[int]) -> None:
        for place in places:
            heapq.heappush(self._ready, place)

    def _waits_for_turn(self, place: int, stack: StackSpec, now: float) -> bool:
        """Takes the next turn that the rates allow, unless it has had one; gives whether that is later."""
        if self._waits.has_turn(place):
            return False
        at = self._rates.next_turn(stack, now)
        if at <= now:
            return False
        self._waits.takes_turn(place, at)
        return True

    def _others_with(self, start: Start, now: float) -> list[Start]:
        """Those that are given to a worker together with a stack: to the limits, a batch is one stack."""
        first, number = start
        if number > 1:
            return []
        waiting = self._room.parked_with(first) or self._ready
        others: list[Start] = []
        for _ in range(1, self._batches.size(1 + len(waiting), self._room.slots_of(first), now)):
            if not waiting or not self._joins(self._stacks[waiting[0]], first):
                break
            others.append(self._begin(heapq.heappop(waiting)))
        return others

    def _joins(self, stack: StackSpec, first: StackSpec) -> bool:
        has_begun = self._starts.of(stack["id"]) > 0
        same_groups = self._room.groups(stack) == self._room.groups(first)
        return not has_begun and same_groups and is_for_same_workers(stack, first)

    def _begin(self, place: int) -> Start:
        stack = self._stacks[place]
        self._waits.leave(place)
        number = self._starts.begin(stack["id"])
        self.running.add(stack["id"])
        self._known[stack["id"]] = len(self.ends)
        return stack, number

    # Ends.

    def _goes_on(self, stack: StackSpec, end: StackEnd, before: Sequence[str], now: float) -> bool:
        """Does the stack begin once more, so that this is no end?"""
        place, name = self._place[stack["id"]], stack["id"]
        found = self._starts.needs(name)
        if end["reason"] == "needs":
            missing = end.get("needs") or ""
            early = missing if missing in self._place and missing != name and missing not in found else None
        else:
            early = next((other for other in end.get("read") or [] if self._was_early(other, stack, end, before)), None)
        if early is not None:
            self._starts.was_early_for(name, early)
            self._await(place, early, now)
            return True
        if end["outcome"] != "failed":
            return False
        retry = self._plan["retry"]
        failures = self._starts.failures(name)
        if end["reason"] != "provider" or failures >= retry["provider"]:
            return False
        pause = min(retry["firstWait"] * 2 ** (failures - 1), retry["longestWait"])
        self._waits.retries(place, now + max(pause, end.get("retryAfter") or 0.0))
        return True

    def _was_early(self, other: str, stack: StackSpec, end: StackEnd, before: Sequence[str]) -> bool:
        """May a stack have read another one that was still being made?"""
        name = stack["id"]
        place = self._place.get(other)
        if place is None or other == name or other in self._starts.needs(name) or end["outcome"] == "cancelled":
            return False
        there = self.ends.get(other)
        if there is not None and other in before:
            return False
        if there is None:
            # One that waits for this stack, or for a wave, is read as it was before the run.
            return self._waves.has_begun(place) and not self._waits_for(place, self._place[name])
        changed = there["outcome"] == "done" or (end["outcome"] == "failed" and not is_success(there["outcome"]))
        return changed and self._numbers[other] >= self._known[name]

    def _await(self, place: int, missing: str, now: float) -> None:
        """A stack has turned out to need another one of the run."""
        there = self.ends.get(missing)
        if there is None:
            self._needs.add(place, missing)
        elif is_success(there["outcome"]):
            # It came while this one was looking for it.
            heapq.heappush(self._ready, place)
        else:
            self._finish(self._without(self._stacks[place], there), now)

    def _finish(self, end: StackEnd, now: float, *, alone: bool = False) -> None:
        """A stack has ended for good, and with it those that need it, unless it succeeded."""
        finishing = [end]
        while finishing:
            end = finishing.pop()
            name = end["id"]
            if name in self.ends:
                continue
            self._numbers[name] = len(self.ends)
            self.ends[name] = end
            place = self._place[name]
            self.failed += end["outcome"] == "failed"
            self._waits.leave(place)
            self._waves.leave(place)
            for dependent in self._needs.dependents(place):
                if is_success(end["outcome"]):
                    met = self._needs.meet(dependent)
                    if met and self._waves.has_begun(dependent) and not self._has_ended(dependent):
                        heapq.heappush(self._ready, dependent)
                elif not alone:
                    finishing.append(self._without(self._stacks[dependent], end))
        self._waves.settle(now)

    def _end_circles(self, now: float) -> None:
        """Programs refer to each other, or to a later wave, which nobody could know before they ran."""
        stuck = [
            (self._stacks[self._place[name]], other)
            for name, other in self._starts.early()
            if name not in self.ends
            and (not self._waves.has_begun(self._place[other]) or self._waits_for(self._place[name], self._place[name]))
        ]
        for stack, missing in stuck:
            self._finish(self._unbegun(stack, "failed", "needs", f"needs {missing}, which cannot begin before it"), now)

    def _waits_for(self, place: int, other: int) -> bool:
        return self._needs.is_behind(place, other, self._has_ended)

    def _has_ended(self, place: int) -> bool:
        return self._stacks[place]["id"] in self.ends

    def _without(self, stack: StackSpec, needed: StackEnd) -> StackEnd:
        return self._unbegun(stack, "skipped", "needs", f"needs {needed['id']}, which {_WORDS[needed['outcome']]}")

    def _unbegun(self, stack: StackSpec, outcome: Outcome, reason: str, text: str) -> StackEnd:
        return {
            "id": stack["id"],
            "outcome": outcome,
            "changes": self._earlier.of(stack["id"]),
            "reason": reason,
            "text": text,
            "attempts": self._starts.of(stack["id"]),
            "seconds": 0.0,
        }

    def _go_on_from(self, state: CourseState) -> None:
        for end in state["ends"]:
            self._batches.learn(end, None)
            self._finish(end, state["waveBegins"], alone=True)
        for name, other in self._starts.early():
            if other not in self.ends:
                self._needs.add(self._place[name], other)
        for wave in range(state["wave"] + 1):
            self._enter(wave)
        retrying, turns = (
            {self._place[later["id"]]: later["at"] for later in waits} for waits in (state["later"], state["turns"])
        )
        self._waits.go_on_from(retrying, turns)
        self._ready = [place for place in self._ready if place not in retrying and place not in turns]
        heapq.heapify(self._ready)
        self._waves.go_on_from(state)
        self.paused, self.stopped = state["paused"], state["stopped"]
