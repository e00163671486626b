// What an operation of a test is asked to do, of what the test says.

import { toJsonText } from "../../originals";
import type { Order } from "./operate";
import type { PreviewOptions, Verb } from "./settings";

/** The order of a verb with its options. Throws a TypeError for options that it has not. */
export function orderOf(verb: Verb, options: PreviewOptions): Pick<Order, "verb"> & Partial<Order> {
    const looks = options.policies !== undefined && options.policies.length > 0;
    if (looks && verb !== "preview" && verb !== "up") {
        throw new TypeError(`${verb}() has no option \`policies\`: they look at \`preview\` and \`up\``);
    }
    if (!looks && options.policyConfig !== undefined) {
        throw new TypeError(`${verb}() has \`policyConfig\` for no policies: give \`policies\`, too`);
    }
    return verb === "preview" ? { ...options, verb: "up", preview: true } : { ...options, verb };
}

/** The configuration of a stack, by full key: texts as they are, all else as JSON. */
export function configurationOf(stack: {
    project: string;
    config: Record<string, unknown>;
    secrets: Record<string, string>;
}): Order["config"] {
    const full = (key: string): string => (key.includes(":") ? key : `${stack.project}:${key}`);
    const entries = (values: Record<string, unknown>, secret: boolean): [string, Order["config"][string]][] =>
        Object.entries(values)
            .filter(([, value]) => value !== undefined)
            .map(([key, value]) => [
                full(key),
                { value: typeof value === "string" ? value : toJsonText(value), secret },
            ]);
    return Object.fromEntries([...entries(stack.config, false), ...entries(stack.secrets, true)]);
}
