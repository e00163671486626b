// Which stacks of a run begin next, and what becomes of the others: order, waves, limits, retries and the stop rule.
//
// It knows no engine and no clock: times are given to it, in seconds. The workflow of a run drives it, so it has to do the same
// whenever it is given the same. `maloko/fleet/_course/_course.py` is its twin, and `conformance/fleets/course.json` holds both to one
// meaning.

import {
    type BatchEnd,
    type Counts,
    type CourseState,
    isSuccess,
    type Later,
    type Outcome,
    type Plan,
    type RunEnd,
    type StackEnd,
    type StackSpec,
} from "../wire";
import { Batches, isForSameWorkers } from "./batches";
import { EarlierChanges } from "./earlier-changes";
import { Needs } from "./needs";
import { Rates } from "./rates";
import { placesInOrder, Room } from "./room";
import { Starts } from "./starts";
import { Waits } from "./waits";
import { Waves } from "./waves";

const WORDS: Partial<Record<Outcome, string>> = {
    failed: "failed",
    skipped: "was skipped",
    cancelled: "was cancelled",
};

/** A stack that begins, and the number of the start. */
export type StackStart = [stack: StackSpec, number: number];

/** How a run ended whose stacks ended so. */
export function outcomeOf(counts: Counts): RunEnd["outcome"] {
    return counts.cancelled > 0 ? "cancelled" : counts.failed + counts.skipped > 0 ? "failed" : "done";
}

/** A run, from its plan to the end of its last stack. */
export class Course {
    /** By stack, in the order in which they ended. */
    readonly ends = new Map<string, StackEnd>();
    /** Those that workers were given. */
    readonly running = new Set<string>();
    failed = 0;
    paused = false;
    /** Why nothing begins any more. */
    stopped = "";

    readonly #plan: Plan;
    readonly #stacks: StackSpec[];
    readonly #place: Map<string, number>;
    readonly #needs: Needs;
    readonly #starts: Starts;
    readonly #waves: Waves;
    #ready = placesInOrder();
    readonly #room: Room;
    readonly #waits = new Waits();
    readonly #earlier: EarlierChanges;
    // How many had ended when each did.
    readonly #numbers = new Map<string, number>();
    // How many had ended when each of those that are at work began.
    readonly #known = new Map<string, number>();
    readonly #batches: Batches;
    // Of those that a stop has kept from their beginning.
    #leftAs: [outcome: Outcome, reason: string, text: string] = ["skipped", "stopped", ""];
    readonly #rates: Rates;

    constructor(plan: Plan, state: CourseState | null = null, now = 0) {
        this.#plan = plan;
        this.#stacks = plan.stacks;
        this.#place = new Map(plan.stacks.map(({ id }, place) => [id, place]));
        this.#needs = new Needs(plan.stacks);
        this.#waves = new Waves(plan.waves, now);
        this.#starts = new Starts(state);
        this.#rates = new Rates(plan.limits.startsPerSecond, state?.nextStarts);
        this.#earlier = new EarlierChanges(state?.changes);
        this.#room = new Room(plan.limits);
        this.#batches = new Batches(plan.limits);
        if (state !== null) {
            this.#goOnFrom(state);
        }
    }

    /** Has every stack ended? */
    get isOver(): boolean {
        return this.ends.size === this.#stacks.length;
    }

    /** Is nothing at work? */
    get isIdle(): boolean {
        return this.running.size === 0;
    }

    /** The wave that goes on, from 0. */
    get wave(): number {
        return Math.max(this.#waves.at, 0);
    }

    /**
     * The stacks that begin now; they count as running from here on. Those of a batch go to one worker, which does one after the
     * other, and end together: `batchEnded`.
     */
    launches(now: number): [first: StackStart, ...others: StackStart[]][] {
        const begun: [StackStart, ...StackStart[]][] = [];
        if (this.paused) {
            return begun;
        }
        if (!this.stopped) {
            this.#beginWaves(now);
        }
        for (const place of this.#waits.over(now)) {
            this.#ready.push(place);
        }
        while (this.#ready.size > 0 && this.#room.hasSlot) {
            const place = this.#ready.pop() as number;
            const stack = this.#stackAt(place);
            // In a run that has stopped, only those are left that were given up with their batch.
            if (this.#hasEnded(place)) {
                continue;
            }
            if (this.#room.park(place, stack) || this.#waitsForTurn(place, stack, now)) {
                this.#lookAgainAt(this.#room.drawnFor(stack));
                continue;
            }
            this.#room.take(stack);
            const start = this.#begin(place);
            begun.push([start, ...this.#othersWith(start, now)]);
        }
        const stands = begun.length === 0 && this.isIdle && this.#waits.next === undefined;
        if (stands && !this.stopped && this.#waves.begins <= now) {
            this.#endCircles(now);
        }
        return begun;
    }

    /** Seconds after which something may begin although nothing ends until then; undefined: never. */
    wait(now: number): number | undefined {
        if (this.paused || this.stopped || this.isOver) {
            return undefined;
        }
        const { next } = this.#waits;
        const times = next === undefined ? [] : [next];
        if (this.#waves.following !== undefined) {
            times.push(this.#waves.begins);
        }
        return times.length === 0 ? undefined : Math.max(Math.min(...times) - now, 0);
    }

    /** A stack that was given to a worker by itself has ended. */
    ended(end: StackEnd, now: number): void {
        this.#lookAgainAt(this.#room.leave(this.#stackAt(this.#placeOf(end.id))));
        this.#comesTo(end, now);
    }

    /**
     * A batch has ended, with some of its stacks or all; the others begin again. `told`: what its worker says; undefined where that
     * was lost, so that any of them may have begun.
     */
    batchEnded(ids: readonly string[], told: BatchEnd | undefined, now: number): void {
        this.#lookAgainAt(this.#room.leave(this.#stackAt(this.#placeOf(ids[0] as string))));
        const { ends, interrupted } = told ?? { ends: [], interrupted: null };
        for (const [at, end] of ends.entries()) {
            this.#comesTo(end, now, ids.slice(0, at));
        }
        for (const [at, id] of ids.slice(ends.length).entries()) {
            const isInterrupted = interrupted !== null && at === 0;
            if (isInterrupted) {
                this.#earlier.addChanges(id, interrupted);
            }
            this.#giveBack(id, isInterrupted || told === undefined, now);
        }
    }

    // A stack has ended; those before it in its batch had ended when it began.
    #comesTo(end: StackEnd, now: number, before: readonly string[] = []): void {
        const place = this.#placeOf(end.id);
        this.running.delete(end.id);
        if (!this.stopped && this.#goesOn(place, this.#stackAt(place), end, before, now)) {
            this.#earlier.add(end);
            return;
        }
        this.#batches.learn(end, now);
        this.#finish(this.#earlier.inAll(end), now);
        const limit = this.#plan.stopAfter;
        if (limit !== null && this.failed >= limit && !this.isOver) {
            this.stop(`${this.failed} failed, and the run stops after ${limit}`, "skipped", now);
        }
    }

    // A stack of a batch has not ended; one that may have begun gets the next number, and so goes by itself.
    #giveBack(id: string, mayHaveBegun: boolean, now: number): void {
        const place = this.#placeOf(id);
        this.running.delete(id);
        if (mayHaveBegun) {
            this.#starts.giveUp(id);
        } else {
            this.#starts.takeBack(id);
        }
        const goesOn = mayHaveBegun && this.#leftAs[0] !== "cancelled";
        if (this.stopped && !goesOn) {
            this.#leaveOut(this.#stackAt(place), now);
        } else {
            this.#ready.push(place);
        }
    }

    /** Nothing begins any more; what has begun goes on, but for a cancellation. The others end with this outcome. */
    stop(why: string, outcome: Outcome, now: number): void {
        if (this.stopped && outcome !== "cancelled") {
            return;
        }
        this.stopped ||= why;
        this.#leftAs = [outcome, outcome === "cancelled" ? "cancelled" : "stopped", why];
        for (const stack of this.#stacks) {
            if (!this.ends.has(stack.id) && !this.running.has(stack.id)) {
                this.#leaveOut(stack, now);
            }
        }
    }

    #leaveOut(stack: StackSpec, now: number): void {
        this.#finish(this.#unbegun(stack, ...this.#leftAs), now, true);
    }

    /** How many stacks are where. */
    counts(): Counts {
        const ended = { done: 0, unchanged: 0, failed: 0, skipped: 0, cancelled: 0 };
        for (const { outcome } of this.ends.values()) {
            ended[outcome] += 1;
        }
        const [running, retrying] = [this.running.size, this.#waits.retrying.length];
        return { ...ended, running, retrying, waiting: this.#stacks.length - this.ends.size - running - retrying };
    }

    /** The stacks that wait after a failure: until when, and which attempt at their provider comes then. */
    retries(): [id: string, at: number, number: number][] {
        return this.#named(this.#waits.retrying).map(({ id, at }) => [id, at, this.#starts.failures(id) + 1]);
    }

    /** Where it stands; for a time in which nothing is running. */
    state(): CourseState {
        return {
            ends: [...this.ends.values()],
            ...this.#starts.state(this.ends),
            later: this.#named(this.#waits.retrying),
            turns: this.#named(this.#waits.turns),
            changes: this.#earlier.state(this.ends),
            nextStarts: this.#rates.state(),
            wave: this.#waves.at,
            waveBegins: this.#waves.begins,
            paused: this.paused,
            stopped: this.stopped,
        };
    }

    #named(waits: Waits["retrying"]): Later[] {
        return waits.map(({ at, place }) => ({ id: this.#stackAt(place).id, at }));
    }

    // Order and waves.

    #beginWaves(now: number): void {
        for (
            let { following } = this.#waves;
            following !== undefined && this.#waves.begins <= now;
            { following } = this.#waves
        ) {
            const limit = following.unlessFailed;
            if (limit !== null && this.failed >= limit) {
                this.stop(`${this.failed} failed before ${following.name}`, "skipped", now);
                return;
            }
            this.#enter(this.#waves.begin());
            this.#waves.settle(now);
        }
    }

    #enter(wave: number): void {
        for (const [place, stack] of this.#stacks.entries()) {
            if (stack.wave === wave && !this.ends.has(stack.id)) {
                this.#waves.enter(place);
                if (this.#needs.areMet(place)) {
                    this.#ready.push(place);
                }
            }
        }
    }

    // Limits.

    #lookAgainAt(places: number[]): void {
        for (const place of places) {
            this.#ready.push(place);
        }
    }

    // Takes the next turn that the rates allow, unless it has had one; gives whether that is later.
    #waitsForTurn(place: number, stack: StackSpec, now: number): boolean {
        if (this.#waits.hasTurn(place)) {
            return false;
        }
        const at = this.#rates.nextTurn(stack, now);
        if (at <= now) {
            return false;
        }
        this.#waits.takesTurn(place, at);
        return true;
    }

    // Those that are given to a worker together with a stack: to the limits, a batch is one stack.
    #othersWith([first, number]: StackStart, now: number): StackStart[] {
        if (number > 1) {
            return [];
        }
        const waiting = this.#room.parkedWith(first) ?? this.#ready;
        const others: StackStart[] = [];
        for (let left = this.#batches.size(1 + waiting.size, this.#room.slotsOf(first), now) - 1; left > 0; left--) {
            const place = waiting.peek();
            if (place === undefined || !this.#joins(this.#stackAt(place), first)) {
                break;
            }
            waiting.pop();
            others.push(this.#begin(place));
        }
        return others;
    }

    #joins(stack: StackSpec, first: StackSpec): boolean {
        return this.#starts.of(stack.id) === 0 && this.#room.isAlike(stack, first) && isForSameWorkers(stack, first);
    }

    #begin(place: number): StackStart {
        const stack = this.#stackAt(place);
        const number = this.#starts.begin(stack.id);
        this.#waits.leave(place);
        this.running.add(stack.id);
        this.#known.set(stack.id, this.ends.size);
        return [stack, number];
    }

    // Ends.

    // Does the stack begin once more, so that this is no end?
    #goesOn(place: number, stack: StackSpec, end: StackEnd, before: readonly string[], now: number): boolean {
        const { id } = stack;
        const found = this.#starts.needs(id);
        let early: string | undefined;
        if (end.reason === "needs") {
            const missing = end.needs || "";
            early = this.#place.has(missing) && missing !== id && !found.includes(missing) ? missing : undefined;
        } else {
            early = end.read?.find((other) => this.#wasEarly(other, place, end, before));
        }
        if (early !== undefined) {
            this.#starts.wasEarlyFor(id, early);
            this.#await(place, stack, early, now);
            return true;
        }
        if (end.outcome !== "failed") {
            return false;
        }
        const { provider, firstWait, longestWait } = this.#plan.retry;
        const failures = this.#starts.failures(id);
        if (end.reason !== "provider" || failures >= provider) {
            return false;
        }
        const pause = Math.min(firstWait * 2 ** (failures - 1), longestWait);
        this.#waits.retries(place, now + Math.max(pause, end.retryAfter ?? 0));
        return true;
    }

    // May a stack have read another one that was still being made?
    #wasEarly(other: string, place: number, end: StackEnd, before: readonly string[]): boolean {
        const { id, outcome } = end;
        const theirs = this.#place.get(other);
        if (theirs === undefined || theirs === place || outcome === "cancelled") {
            return false;
        }
        if (this.#starts.needs(id).includes(other)) {
            return false;
        }
        const there = this.ends.get(other);
        if (there !== undefined && before.includes(other)) {
            return false;
        }
        if (there === undefined) {
            // One that waits for this stack, or for a wave, is read as it was before the run.
            return this.#waves.hasBegun(theirs) && !this.#waitsFor(theirs, place);
        }
        const changed = there.outcome === "done" || (outcome === "failed" && !isSuccess(there.outcome));
        return changed && (this.#numbers.get(other) ?? 0) >= (this.#known.get(id) ?? 0);
    }

    // A stack has turned out to need another one of the run.
    #await(place: number, stack: StackSpec, missing: string, now: number): void {
        const there = this.ends.get(missing);
        if (there === undefined) {
            this.#needs.add(place, missing);
        } else if (isSuccess(there.outcome)) {
            // It came while this one was looking for it.
            this.#ready.push(place);
        } else {
            this.#finish(this.#without(stack, there), now);
        }
    }

    // A stack has ended for good, and with it those that need it, unless it succeeded.
    #finish(last: StackEnd, now: number, alone = false): void {
        const finishing = [last];
        for (let end = finishing.pop(); end !== undefined; end = finishing.pop()) {
            if (this.ends.has(end.id)) {
                continue;
            }
            this.#numbers.set(end.id, this.ends.size);
            this.ends.set(end.id, end);
            const place = this.#placeOf(end.id);
            this.failed += end.outcome === "failed" ? 1 : 0;
            this.#waits.leave(place);
            this.#waves.leave(place);
            for (const dependent of this.#needs.dependents(place)) {
                if (isSuccess(end.outcome)) {
                    if (this.#needs.meet(dependent) && this.#waves.hasBegun(dependent) && !this.#hasEnded(dependent)) {
                        this.#ready.push(dependent);
                    }
                } else if (!alone) {
                    finishing.push(this.#without(this.#stackAt(dependent), end));
                }
            }
        }
        this.#waves.settle(now);
    }

    // Programs refer to each other, or to a later wave, which nobody could know before they ran.
    #endCircles(now: number): void {
        const stuck = this.#starts.early().filter(([id, other]) => {
            const place = this.#placeOf(id);
            const hasBegun = this.#waves.hasBegun(this.#placeOf(other));
            return !this.ends.has(id) && (!hasBegun || this.#waitsFor(place, place));
        });
        for (const [id, other] of stuck) {
            const text = `needs ${other}, which cannot begin before it`;
            this.#finish(this.#unbegun(this.#stackAt(this.#placeOf(id)), "failed", "needs", text), now);
        }
    }

    #waitsFor(place: number, other: number): boolean {
        return this.#needs.isBehind(place, other, (it) => this.#hasEnded(it));
    }

    #without(stack: StackSpec, needed: StackEnd): StackEnd {
        return this.#unbegun(stack, "skipped", "needs", `needs ${needed.id}, which ${WORDS[needed.outcome]}`);
    }

    #unbegun({ id }: StackSpec, outcome: Outcome, reason: string, text: string): StackEnd {
        return { id, outcome, changes: this.#earlier.of(id), reason, text, attempts: this.#starts.of(id), seconds: 0 };
    }

    #goOnFrom(state: CourseState): void {
        for (const end of state.ends) {
            this.#batches.learn(end);
            this.#finish(end, state.waveBegins, true);
        }
        for (const [id, other] of this.#starts.early()) {
            if (!this.ends.has(other)) {
                this.#needs.add(this.#placeOf(id), other);
            }
        }
        for (let wave = 0; wave <= state.wave; wave++) {
            this.#enter(wave);
        }
        const placed = (waits: Later[]): Map<number, number> =>
            new Map(waits.map(({ id, at }) => [this.#placeOf(id), at]));
        const [retrying, turns] = [placed(state.later), placed(state.turns)];
        this.#waits.goOnFrom(retrying, turns);
        const entered = this.#ready;
        this.#ready = placesInOrder();
        for (const place of entered.sorted().filter((it) => !retrying.has(it) && !turns.has(it))) {
            this.#ready.push(place);
        }
        this.#waves.goOnFrom(state);
        this.paused = state.paused;
        this.stopped = state.stopped;
    }

    #hasEnded(place: number): boolean {
        return this.ends.has(this.#stackAt(place).id);
    }

    #stackAt(place: number): StackSpec {
        return this.#stacks[place] as StackSpec;
    }

    #placeOf(id: string): number {
        return this.#place.get(id) as number;
    }
}
