// What the limits of a run leave room for: in all, and among the stacks with the same value of a label. The workflow uses this file.
import type { Limits, StackSpec } from "../wire";
import { type Group, groupsOf } from "./groups";
import { Heap } from "./heap";

/** How many stacks are begun at a time where nobody says. */
const AT_A_TIME = 200;

/** Places of stacks in a plan, the first one first. */
export function placesInOrder(): Heap<number> {
    return new Heap((left, right) => left < right);
}

/**
 * Slots, and the stacks for which another one with the same value of a label has to end. Whatever takes a slot counts as one stack.
 */
export class Room {
    readonly #each: Record<string, number>;
    readonly #slots: number;
    #taken = 0;
    readonly #inGroup = new Map<string, number>();
    readonly #parked = new Map<string, Heap<number>>();

    constructor({ each, atATime }: Limits) {
        this.#each = each;
        this.#slots = atATime || AT_A_TIME;
    }

    /** May one more begin, by the limit for all? */
    get hasSlot(): boolean {
        return this.#taken < this.#slots;
    }

    /** How many like this one may go on at a time. */
    slotsOf(stack: StackSpec): number {
        return Math.min(this.#slots, ...this.#groups(stack).map(({ label }) => this.#each[label] ?? 0));
    }

    /** Is it one to the limits whether this or that stack is at work? */
    isAlike(one: StackSpec, other: StackSpec): boolean {
        const keys = (stack: StackSpec): string => JSON.stringify(this.#groups(stack).map(({ key }) => key));
        return keys(one) === keys(other);
    }

    /** A stack begins. */
    take(stack: StackSpec): void {
        this.#taken += 1;
        for (const { key } of this.#groups(stack)) {
            this.#inGroup.set(key, this.#countOf(key) + 1);
        }
    }

    /** It has ended; gives the places of parked stacks that may begin in its stead. */
    leave(stack: StackSpec): number[] {
        this.#taken -= 1;
        for (const { key } of this.#groups(stack)) {
            this.#inGroup.set(key, this.#countOf(key) - 1);
        }
        return this.drawnFor(stack);
    }

    /** Takes a stack in for which there is no room among those like it; gives whether that is so. */
    park(place: number, stack: StackSpec): boolean {
        const full = this.#groups(stack).find((group) => !this.#hasRoom(group));
        if (full === undefined) {
            return false;
        }
        const parked = this.#parked.get(full.key) ?? placesInOrder();
        parked.push(place);
        this.#parked.set(full.key, parked);
        return true;
    }

    /** A stack leaves room to others like it: takes out one of each of its groups. */
    drawnFor(stack: StackSpec): number[] {
        return this.#groups(stack)
            .filter((group) => this.#hasRoom(group))
            .flatMap(({ key }) => this.#parked.get(key)?.pop() ?? []);
    }

    /** The longest heap of parked places among a stack's groups; undefined where there are none. */
    parkedWith(stack: StackSpec): Heap<number> | undefined {
        let most: Heap<number> | undefined;
        for (const { key } of this.#groups(stack)) {
            const parked = this.#parked.get(key);
            if (parked !== undefined && parked.size > (most?.size ?? 0)) {
                most = parked;
            }
        }
        return most;
    }

    #groups(stack: StackSpec): Group[] {
        return groupsOf(stack, this.#each);
    }

    #hasRoom({ label, key }: Group): boolean {
        return this.#countOf(key) < (this.#each[label] ?? 0);
    }

    #countOf(key: string): number {
        return this.#inGroup.get(key) ?? 0;
    }
}
