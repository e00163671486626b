// What a former release of a provider left in a state: as resources, or as a stack that was exported then.
import * as fs from "node:fs";
import { parseJson } from "../../originals";
import { messageOf } from "../../process/errors";
import { show } from "../values";
import type { BaselineRow } from "./options";

interface Resource {
    id?: string;
    type?: string;
    custom?: boolean;
    inputs?: Record<string, unknown>;
    outputs?: Record<string, unknown>;
}

/**
 * The resources of a baseline: a list of them, an exported stack, or the file of either. Throws an error that names the file and
 * what is wrong with it. `kind`: the type token of those that count; without it, all but the engine's own do.
 */
export function baselineOf(given: string | readonly BaselineRow[] | object, kind?: string): BaselineRow[] {
    const place = typeof given === "string" ? given : "`baseline`";
    let value: unknown = given;
    if (typeof given === "string") {
        try {
            value = parseJson(fs.readFileSync(given, "utf8"));
        } catch (error) {
            throw new Error(`the baseline ${given} cannot be read: ${messageOf(error)}`, { cause: error });
        }
    }
    const deployed = (value as { deployment?: { resources?: unknown } } | null)?.deployment?.resources;
    const states = (Array.isArray(deployed) ? (deployed as Resource[]).filter(isOne(kind)) : value) as Resource[];
    if (!Array.isArray(states) || states.length === 0 || !states.every((state) => state?.inputs && state.outputs)) {
        throw new Error(
            `${place} is neither a list of { id, inputs, outputs } nor an exported stack with resources, but ${show(value)}`,
        );
    }
    return states.map(({ id = "", inputs, outputs }) => ({ id, inputs: cleaned(inputs), outputs: cleaned(outputs) }));
}

function isOne(kind: string | undefined): (resource: Resource) => boolean {
    return ({ custom, type = "", outputs }) => {
        const counts = kind === undefined ? !type.startsWith("pulumi:") : type === kind;
        return custom === true && outputs !== undefined && counts;
    };
}

// The provider's code, as the SDK keeps it beside the properties.
function cleaned(bag: Record<string, unknown> = {}): Record<string, unknown> {
    return Object.fromEntries(Object.entries(bag).filter(([key]) => key !== "__provider"));
}
