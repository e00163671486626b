// A heap: the smallest of many is at hand, and the rest in no order. The workflow uses this file.

/** Values of which the smallest comes first. */
export class Heap<T> {
    readonly #all: T[] = [];

    /** `before`: does the first of two come before the second? */
    constructor(private readonly before: (left: T, right: T) => boolean) {}

    get size(): number {
        return this.#all.length;
    }

    /** The first one; undefined where there is none. */
    peek(): T | undefined {
        return this.#all[0];
    }

    push(value: T): void {
        const all = this.#all;
        let place = all.push(value) - 1;
        while (place > 0) {
            const above = (place - 1) >> 1;
            if (!this.before(value, all[above] as T)) {
                break;
            }
            all[place] = all[above] as T;
            place = above;
        }
        all[place] = value;
    }

    /** Takes the first one away. */
    pop(): T | undefined {
        const all = this.#all;
        const first = all[0];
        const last = all.pop();
        if (last === undefined || all.length === 0) {
            return first;
        }
        let place = 0;
        for (let below = 1; below < all.length; below = 2 * place + 1) {
            const right = below + 1;
            const least = right < all.length && this.before(all[right] as T, all[below] as T) ? right : below;
            if (!this.before(all[least] as T, last)) {
                break;
            }
            all[place] = all[least] as T;
            place = least;
        }
        all[place] = last;
        return first;
    }

    /** All of them, the first one first. */
    sorted(): T[] {
        return [...this.#all].sort((left, right) => (this.before(left, right) ? -1 : this.before(right, left) ? 1 : 0));
    }
}
