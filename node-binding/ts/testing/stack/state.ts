// What lies in the store of a test's stack, and what its resources were in the course of the test.
import type { NativeStack } from "../../native";
import { parseJson, toJsonText } from "../../originals";
import { secretTexts } from "../scrubbing";
import type { History, Row, UnresolvedCreate } from "./settings";

/** The state of one stack. */
export class StackState {
    readonly #history = new Map<string, History>();

    /** `native`: the engine's side of it. */
    constructor(readonly native: NativeStack) {}

    /** The resources. */
    rows(): Row[] {
        return (parseJson(this.native.resources()) as { rows: Row[] }).rows;
    }

    /** The resource of a name. Throws an error that names those that are there. */
    row(name: string): Row {
        const resources = this.rows();
        const found = resources.filter((resource) => resource.name === name && !resource.delete);
        const [resource] = found;
        if (resource === undefined) {
            const names = resources.map((it) => it.name).join(", ") || "none";
            throw new Error(`the state has no resource '${name}'; it has: ${names}`);
        }
        if (found.length > 1) {
            const types = found.map(({ type }) => type).join(", ");
            throw new Error(`the state has ${found.length} resources '${name}', of the types ${types}: see \`rows()\``);
        }
        return resource;
    }

    /** The texts that are secret in it. */
    secrets(): string[] {
        return secretTexts(parseJson(this.native.export()));
    }

    /** Objects that may exist, because it is not known what a `create` did. */
    unresolvedCreates(): UnresolvedCreate[] {
        return (parseJson(this.native.resources()) as { suspects: UnresolvedCreate[] }).suspects;
    }

    /** Another state: with what these resources need, and without them. */
    without(urns: string[]): StackState {
        return new StackState(this.native.without(urns));
    }

    /** What a resource was; empty for one that never was. */
    history(name: string): History {
        return this.#history.get(name) ?? { ids: [], outputs: [] };
    }

    /** Adds what the resources are now to their histories. */
    remember(): void {
        for (const { name, id, outputs, delete: goes } of this.rows()) {
            if (goes) {
                continue;
            }
            const history = this.#history.get(name) ?? { ids: [], outputs: [] };
            this.#history.set(name, history);
            if (id !== "" && history.ids.at(-1) !== id) {
                history.ids.push(id);
            }
            if (toJsonText(history.outputs.at(-1)) !== toJsonText(outputs)) {
                history.outputs.push(outputs);
            }
        }
    }
}
