// The property that a provider declares to be named automatically.
import { labelOf } from "./calls";

interface Declaration {
    property?: string;
    maxLength?: number;
}

/** What a provider, or its class, declares as `autonaming`; empty when it declares nothing. */
export function autonamingOf(provider: object): Declaration {
    const own = (provider as { autonaming?: unknown }).autonaming;
    const declared = own ?? (provider.constructor as { autonaming?: unknown } | undefined)?.autonaming;
    if (declared === undefined || declared === null) {
        return {};
    }
    const members = (typeof declared === "string" ? { property: declared } : declared) as Record<string, unknown>;
    const { property, maxLength, ...others } = typeof members === "object" ? members : {};
    const what = `\`autonaming\` of ${labelOf(provider)}`;
    if (typeof property !== "string" || property === "") {
        throw new TypeError(`${what} must be the name of a property, or an object with \`property\` and \`maxLength\``);
    }
    const [unknown] = Object.keys(others);
    if (unknown !== undefined) {
        throw new TypeError(`${what} has the unknown member \`${unknown}\`; known are \`property\` and \`maxLength\``);
    }
    if (maxLength === undefined) {
        return { property };
    }
    if (!Number.isInteger(maxLength) || (maxLength as number) < 1) {
        throw new TypeError(`${what} has the maxLength ${maxLength}; it must be a whole number above 0`);
    }
    return { property, maxLength: maxLength as number };
}
