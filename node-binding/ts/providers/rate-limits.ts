// How often the objects of a provider class may be called, as the class declares it.
import { labelOf } from "./calls";

/** What the engine is told; `class` names the class among those of a run. */
export interface CallLimits {
    class: string;
    maxConcurrency?: number;
    /** Seconds. */
    minInterval: number;
}

// Classes may share a name, but not their limits.
const numbers = new WeakMap<object, number>();
let lastNumber = 0;

/**
 * The limits that a provider's class declares with `static maxConcurrency` and `static minInterval`; an object literal
 * declares them itself.
 */
export function limitsOf(provider: object): CallLimits | undefined {
    const isLiteral = Object.hasOwn(provider, "maxConcurrency") || Object.hasOwn(provider, "minInterval");
    const holder = isLiteral ? provider : (provider.constructor as object | undefined);
    const { maxConcurrency, minInterval } = (holder ?? {}) as { maxConcurrency?: unknown; minInterval?: unknown };
    if (holder === undefined || (maxConcurrency === undefined && minInterval === undefined)) {
        return undefined;
    }
    if (maxConcurrency !== undefined && !(Number.isInteger(maxConcurrency) && (maxConcurrency as number) >= 1)) {
        throw new TypeError(
            `\`maxConcurrency\` of ${labelOf(provider)} is ${maxConcurrency}; it must be a whole number above 0: so many ` +
                "calls of its objects run at a time",
        );
    }
    if (minInterval !== undefined && !(Number.isFinite(minInterval) && (minInterval as number) >= 0)) {
        throw new TypeError(
            `\`minInterval\` of ${labelOf(provider)} is ${minInterval}; it must be a number of seconds, such as 0.5`,
        );
    }
    return {
        class: String(numberOf(ownerOf(holder))),
        ...(maxConcurrency === undefined ? {} : { maxConcurrency: maxConcurrency as number }),
        minInterval: (minInterval as number | undefined) ?? 0,
    };
}

// Subclasses that inherit a limit share it: it is most likely that of one service.
function ownerOf(holder: object): object {
    for (let owner: object | null = holder; owner !== null; owner = Object.getPrototypeOf(owner) as object | null) {
        if (Object.hasOwn(owner, "maxConcurrency") || Object.hasOwn(owner, "minInterval")) {
            return owner;
        }
    }
    return holder;
}

function numberOf(owner: object): number {
    const number = numbers.get(owner) ?? ++lastNumber;
    numbers.set(owner, number);
    return number;
}
