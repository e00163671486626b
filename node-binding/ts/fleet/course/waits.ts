// Which stacks of a run wait for a time: after a failure, or for the next start that a rate allows. The workflow uses this file.
import { Heap } from "./heap";

/** A stack, and until when it waits. */
interface Wait {
    at: number;
    place: number;
}

/** Until when stacks wait; they are named by their places in the plan, and times are seconds. */
export class Waits {
    readonly #all = new Heap<Wait>((left, right) => inOrder(left, right) < 0);
    #retrying = new Map<number, number>();
    #turns = new Map<number, number>();

    /** When the first wait is over; undefined where nothing waits. */
    get next(): number | undefined {
        return this.#all.peek()?.at;
    }

    /** Those whose provider failed, the first one first. */
    get retrying(): Wait[] {
        return sorted(this.#retrying);
    }

    /** Those whose start a rate has put off; once the wait is over, a limit may still hold them up. */
    get turns(): Wait[] {
        return sorted(this.#turns);
    }

    /** A stack is tried again then. */
    retries(place: number, at: number): void {
        this.#retrying.set(place, at);
        this.#all.push({ at, place });
    }

    /** A stack may begin then. */
    takesTurn(place: number, at: number): void {
        this.#turns.set(place, at);
        this.#all.push({ at, place });
    }

    /** Was its start put off already? */
    hasTurn(place: number): boolean {
        return this.#turns.has(place);
    }

    /** Takes out those whose wait is over. */
    *over(now: number): Iterable<number> {
        for (let first = this.#all.peek(); first !== undefined && first.at <= now; first = this.#all.peek()) {
            this.#all.pop();
            yield first.place;
        }
    }

    /** A stack begins, or has ended. */
    leave(place: number): void {
        this.#retrying.delete(place);
        this.#turns.delete(place);
    }

    /** As an earlier history of the run has left them. */
    goOnFrom(retrying: Map<number, number>, turns: Map<number, number>): void {
        this.#retrying = retrying;
        this.#turns = turns;
        // One that was tried again and then put off waits for its turn alone.
        for (const [place, at] of new Map([...retrying, ...turns])) {
            this.#all.push({ at, place });
        }
    }
}

function sorted(places: ReadonlyMap<number, number>): Wait[] {
    return [...places].map(([place, at]) => ({ at, place })).sort(inOrder);
}

function inOrder(left: Wait, right: Wait): number {
    return left.at - right.at || left.place - right.place;
}
