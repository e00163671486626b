// Operations that are expected to fail.
import { messageOf } from "../../process/errors";
import { fits, show } from "../values";

/** Why an operation failed. */
export interface Failure {
    /** The name of the resource; absent where it is not about one, such as an error of the program itself. */
    resource?: string;
    urn?: string;
    /** The provider's method, where one failed. */
    method?: string;
    message: string;
    /** The very object that was thrown. */
    thrown: unknown;
}

/** What a test expects of a failure. */
export interface FailureExpectation {
    /** The provider's method. */
    method?: string;
    /** Part of the message, or what its text has to match. */
    match?: string | RegExp;
}

// By the promise and by the error: a test hands over either of them, and anything can be thrown.
const known = new WeakMap<object, Failure>();

function asKey(value: unknown): object | undefined {
    return (typeof value === "object" && value !== null) || typeof value === "function" ? value : undefined;
}

/** Remembers how the operation of a promise, or with this error, failed. */
export function noteFailure(key: unknown, failure: Failure): void {
    const object = asKey(key);
    if (object !== undefined) {
        known.set(object, failure);
    }
}

/** Waits for an operation; how it failed, undefined when it succeeded. */
export async function failureOf(operation: PromiseLike<unknown>): Promise<Failure | undefined> {
    try {
        await operation;
        return undefined;
    } catch (thrown) {
        const key = asKey(thrown);
        return known.get(operation as object) ?? (key && known.get(key)) ?? { message: messageOf(thrown), thrown };
    }
}

/** How a failure is not as expected, as the end of "expected ..., but"; undefined when it is. */
export function failureDifference(
    failure: Failure,
    expected: FailureExpectation & { resource?: string },
): string | undefined {
    const { resource, method, match } = expected;
    const said = `\n${failure.message}`;
    if (resource !== undefined && !fits(resource, failure.resource ?? "")) {
        const where = failure.resource === undefined ? "not on a resource" : `on ${failure.resource}`;
        return `it failed ${where}:${said}`;
    }
    if (method !== undefined && failure.method !== method) {
        const where = failure.method === undefined ? "in no provider method" : `in \`${failure.method}\``;
        return `it failed ${where}, not in \`${method}\`:${said}`;
    }
    const found =
        match === undefined ||
        (typeof match === "string" ? failure.message.includes(match) : failure.message.search(match) >= 0);
    return found ? undefined : `its message does not match ${show(match)}:${said}`;
}

/**
 * Runs something that has to fail, and gives how it failed. `resource`: on which one (`*` stands for anything). Throws an
 * error that says what happened instead, with what was thrown as its cause.
 *
 * ```ts
 * const { thrown } = await fails("b", { method: "create", match: /quota/ }, () => s.up());
 * ```
 */
export async function fails(
    resource: string,
    expectation: FailureExpectation,
    action: () => PromiseLike<unknown>,
): Promise<Failure> {
    const failure = await failureOf(action());
    const wrong = failure === undefined ? "it succeeded" : failureDifference(failure, { ...expectation, resource });
    if (failure === undefined || wrong !== undefined) {
        throw new Error(`expected the operation to fail on ${resource}, but ${wrong}`, { cause: failure?.thrown });
    }
    return failure;
}
