// Whether a failure of a provider's method may pass: as the error says it, or the provider.
import type { Transience } from "../../native";
import { isArray } from "../originals";

/** The member by which a provider, or its class, declares them. */
export const RETRYABLE_MEMBER = "retryableErrors";

// A program may have a copy of this package of its own.
const SECONDS = Symbol.for("maloko.tryLater.1");

/**
 * Thrown by a provider's method when the service says "not now", as with HTTP 429: the method fails, and whoever runs the operation
 * learns how long to wait before it is run again (`retryAfter` of the automation API's errors).
 */
export class TryLater extends Error {
    override readonly name: string = "TryLater";
    /** How long to wait. */
    readonly seconds: number;

    /**
     * `seconds`: how long to wait; also the text of a `Retry-After` header that has a number. What is negative counts as 0.
     * `message`: what the service said.
     */
    constructor(seconds: number | string, message = "", options?: ErrorOptions) {
        const number = Number(seconds);
        const time = Number.isFinite(number) && number > 0 ? number : 0;
        super(message || `the service asks to be tried again in ${time} s`, options);
        this.seconds = time;
        Object.defineProperty(this, SECONDS, { value: time });
    }
}

/** The classes of errors that a provider declares as transient; throws a TypeError when what it declares is something else. */
export function retryableErrorsOf(provider: object): readonly ErrorClass[] {
    const own = (provider as Declaring)[RETRYABLE_MEMBER];
    const declared = own ?? (provider.constructor as Declaring | undefined)?.[RETRYABLE_MEMBER] ?? [];
    if (!isArray(declared) || !declared.every((it) => typeof it === "function")) {
        throw new TypeError(
            `\`${RETRYABLE_MEMBER}\` of a provider \`${provider.constructor?.name}\` is no list of classes; write \`static retryableErrors = [TimeoutError]\``,
        );
    }
    return declared as ErrorClass[];
}

interface Declaring {
    [RETRYABLE_MEMBER]?: unknown;
}

type ErrorClass = new (...args: never[]) => unknown;

/** Whether the failure of a method of that provider may pass; undefined where nobody says so. */
export function transienceOf(thrown: unknown, provider: object): Transience | undefined {
    if (typeof thrown !== "object" || thrown === null) {
        return undefined;
    }
    try {
        const seconds = (thrown as { [SECONDS]?: unknown })[SECONDS];
        if (typeof seconds === "number") {
            return { retryAfter: seconds };
        }
        const isRetryable = retryableErrorsOf(provider).some((kind) => thrown instanceof kind);
        return isRetryable ? { retryAfter: null } : undefined;
    } catch {
        // What is thrown may be anything, also something that throws when it is looked at.
        return undefined;
    }
}
