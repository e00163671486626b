// What has to be true of a stack, from what happened to it alone.
import type { Inputs } from "../stack/subject";
import type { Rule, Step } from "./steps";

/** A small opinion on what must exist. */
export class Model {
    /** What the program says. */
    readonly program = new Map<string, Inputs>();
    /** What the state has: with which inputs each was last made or changed. */
    readonly state = new Map<string, Inputs>();
    /** Whose objects somebody has removed, and the state does not know it. */
    readonly lost = new Set<string>();
    /** Whose objects somebody has changed since they were last as the program says. */
    readonly changed = new Set<string>();

    constructor(
        private readonly rules: readonly Rule[],
        private readonly unique: readonly string[] = [],
    ) {}

    /** Can this be the next step? */
    allows(step: Step): boolean {
        if (!this.rules.includes(step[0])) {
            return false;
        }
        switch (step[0]) {
            case "edit":
                return this.#isFree(step[1], step[2]);
            case "remove":
                return this.program.has(step[1]);
            case "import":
                return !this.program.has(step[1]) && !this.state.has(step[1]) && this.#isFree(step[1], step[2]);
            case "drift":
            case "vanish":
                return this.state.has(step[1]) && !this.lost.has(step[1]);
            default:
                return true;
        }
    }

    /** Would an `up` do well to look at the real objects first? */
    get drifted(): boolean {
        return this.lost.size > 0 || this.changed.size > 0;
    }

    /** The state is as the program says. */
    deployed(): void {
        this.state.clear();
        for (const [name, inputs] of this.program) {
            this.state.set(name, inputs);
        }
        this.lost.clear();
        this.changed.clear();
    }

    /** The state is as the world is. */
    refreshed(): void {
        for (const name of this.lost) {
            this.state.delete(name);
            this.changed.delete(name);
        }
        this.lost.clear();
    }

    /** Nothing is left. */
    destroyed(): void {
        this.state.clear();
        this.lost.clear();
        this.changed.clear();
    }

    #isFree(name: string, inputs: Inputs): boolean {
        const others = [...this.program, ...this.state].filter(([other]) => other !== name);
        return this.unique.every((key) => others.every(([, other]) => other[key] !== inputs[key]));
    }
}
