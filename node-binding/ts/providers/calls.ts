// Calls the methods of live provider objects and turns what they return or throw into answers for the engine.

import { types } from "node:util";
import type { CallFailure, CheckAnswer, CreateAnswer, DiffAnswer, ReadAnswer, UpdateAnswer } from "../../native";
import { isInterruption } from "../current";
import { apply, getPrototypeOf, isArray, toJsonText } from "../originals";
import { describe, describeWithCauses, tracebackOf } from "../process/errors";
import { METHODS } from "../sdk/methods";
import { Outputs } from "../sdk/outputs";
import { BadValue, type Bag, fromText, isSpecial, nameOf, type Reservations, toBag, usable } from "./conversion";
import { describeResult, idIn } from "./described";
import { transienceOf } from "./transience";
import { typedInputs } from "./typed";

/** A provider object as the SDK's `pulumi.dynamic.ResourceProvider` describes it; everything may be missing. */
export type ProviderObject = { [method: string]: unknown };

/** A call that failed, with the very object that was thrown. */
export class CallFailed extends Error {
    constructor(
        readonly failure: CallFailure,
        readonly thrown: unknown,
    ) {
        super(failure.message);
    }
}

// The global `Promise` may be another one.
const { isPromise } = types;

interface Arguments {
    id: string;
    key: string;
    olds: Bag;
    news: Bag;
    props: Bag;
    config: Record<string, string>;
    project: string;
}

/** Which methods an object has, as the bits that `describe` takes. */
export function methodsOf(provider: object): number {
    return METHODS.reduce(
        (bits, method, index) => (has(provider as ProviderObject, method) ? bits | (1 << index) : bits),
        0,
    );
}

/** Has it a method that the engine calls? */
export function has(provider: ProviderObject, method: string): boolean {
    const found = provider[method];
    // These are no methods of the SDK's: a helper of that name may be something else.
    const most = method === "find" ? 2 : method === "close" ? 0 : Number.POSITIVE_INFINITY;
    return typeof found === "function" && found.length <= most;
}

/** What a provider is configured with, by full keys: texts of the stack's configuration, or a provider resource's inputs. */
export type Configuration = Record<string, unknown>;

/** The configuration that `configure` gets; it answers as the SDK's own does. */
export class Config {
    readonly #values: Configuration;
    readonly #project: string;

    constructor(values: Configuration, project: string) {
        this.#values = values;
        this.#project = project;
    }

    /** The value of a key; one without a namespace is the project's. */
    get(key: string): string | undefined {
        const full = key.includes(":") ? key : `${this.#project}:${key}`;
        return Object.hasOwn(this.#values, full) ? (this.#values[full] as string) : undefined;
    }

    /** The value of a key, or an error that names it. */
    require(key: string): string {
        const value = this.get(key);
        if (value === undefined) {
            throw new Error(
                `Missing required configuration key: ${key.includes(":") ? key : `${this.#project}:${key}`}`,
            );
        }
        return value;
    }
}

/** Takes what the user should know of a result that is kept with a reservation. */
export type Warn = (text: string) => void;

/** Calls a method with the engine's arguments (JSON) and gives the answer as JSON; throws `CallFailed`. */
export async function callProvider(
    provider: object,
    method: string,
    text: string,
    warn: Warn,
    signal?: AbortSignal,
): Promise<string> {
    const args = fromText(text) as Arguments;
    let result: unknown;
    try {
        if (method === "create" || method === "find") {
            const inputs = typedInputs(provider, args.props);
            args.props = isPromise(inputs) ? await inputs : inputs;
        } else if (method === "update" || method === "diff") {
            const inputs = typedInputs(provider, args.news);
            args.news = isPromise(inputs) ? await inputs : inputs;
        }
        result = await invoke(provider as ProviderObject, method, args);
    } catch (thrown) {
        if (isInterruption(thrown, signal)) {
            const failure: CallFailure = {
                kind: "interrupted",
                message: describe(thrown),
                traceback: tracebackOf(thrown),
            };
            throw new CallFailed(failure, thrown);
        }
        const failure = await withOutputs((outputs) => failureOf(thrown, provider, method, outputs));
        throw new CallFailed(failure, thrown);
    }
    let notes: string[] = [];
    let known = new Outputs();
    try {
        const answer = withOutputs((outputs) => {
            known = outputs;
            notes = [];
            return answerOf(result, method, args, { notes, outputs });
        });
        return isPromise(answer) ? await answer : answer;
    } catch (thrown) {
        throw unusable(provider, method, result, thrown, known);
    } finally {
        for (let index = 0; index < notes.length; index++) {
            warn(`\`${method}\` of ${labelOf(provider)} returned a value to look at: ${notes[index]}`);
        }
    }
}

// Reads a result: at once where no output is in it, as nearly always.
function withOutputs<T>(read: (outputs: Outputs) => T): T | Promise<T> {
    const outputs = new Outputs();
    let answer: T;
    try {
        answer = read(outputs);
    } catch (fault) {
        if (outputs.areOpen) {
            return readAgain(read, outputs);
        }
        throw fault;
    }
    return outputs.areOpen ? readAgain(read, outputs) : answer;
}

// As often as there are outputs in outputs.
async function readAgain<T>(read: (outputs: Outputs) => T, outputs: Outputs): Promise<T> {
    for (;;) {
        await outputs.resolve();
        try {
            const answer = read(outputs);
            if (!outputs.areOpen) {
                return answer;
            }
        } catch (fault) {
            if (!outputs.areOpen) {
                throw fault;
            }
        }
    }
}

// The error of a result that cannot be used. What `create` and `update` made is there all the same, and must not be lost.
function unusable(provider: object, method: string, result: unknown, fault: unknown, outputs: Outputs): CallFailed {
    const reason = fault instanceof BadValue ? fault.message : describe(fault);
    const message = `\`${method}\` of ${labelOf(provider)} returned something that cannot be used: ${reason}`;
    const thrown = new TypeError(message, { cause: fault instanceof BadValue ? undefined : fault });
    return new CallFailed(unusableFailure(method, message, result, outputs), thrown);
}

function unusableFailure(method: string, message: string, result: unknown, outputs: Outputs): CallFailure {
    const made = method === "create" || method === "update" ? whatWasMade(method, result, outputs) : undefined;
    if (made !== undefined) {
        return { kind: "unusableOutputs", message, ...made };
    }
    return method === "create"
        ? { kind: "unreadable", message, returned: describeResult(result), id: idIn(result) }
        : { kind: "badReturn", message };
}

function whatWasMade(
    method: "create" | "update",
    result: unknown,
    outputs: Outputs,
): { id: string; properties: Bag } | undefined {
    if (result === null || typeof result !== "object") {
        return undefined;
    }
    try {
        const { id, outs } = result as { id?: unknown; outs?: unknown };
        if (method === "update") {
            return { id: "", properties: usable(outs, outputs) };
        }
        return typeof id === "string" && id !== "" && id.isWellFormed()
            ? { id, properties: usable(outs, outputs) }
            : undefined;
    } catch {
        // A getter of the result throws.
        return undefined;
    }
}

function invoke(provider: ProviderObject, method: string, args: Arguments): unknown {
    const call = (...values: unknown[]): unknown => {
        const implementation = provider[method];
        if (typeof implementation !== "function") {
            throw new TypeError(`${labelOf(provider)} has no method \`${method}\``);
        }
        return apply(implementation, provider, values) as unknown;
    };
    switch (method) {
        case "configure":
            return call({ config: new Config(args.config, args.project) });
        case "check":
            return call(args.olds, args.news);
        case "close":
            return call();
        case "diff":
        case "update":
            return call(args.id, args.olds, args.news);
        case "create":
            return call(args.props);
        case "find":
            return call(args.key, args.props);
        default:
            return call(args.id, args.props);
    }
}

function answerOf(result: unknown, method: string, args: Arguments, notes: Reservations): string {
    switch (method) {
        case "check":
            return toJsonText(checkAnswer(members(result, "an object with `inputs`"), args.news, notes));
        case "diff":
            return toJsonText(diffAnswer(members(result, "an object (`{}`: let the engine compare)")));
        case "create": {
            const { id, outs } = members(result, "an object with `id` and `outs`");
            if (typeof id !== "string" || id === "") {
                const what = id === undefined || id === "" ? "no id" : `${nameOf(id)} as id`;
                throw new BadValue("the result", `has ${what}: every created resource needs one, a non-empty text`);
            }
            if (!id.isWellFormed()) {
                throw new BadValue("the result", "has an id that is no valid text: it holds half a character");
            }
            return toJsonText({ id, outs: bagOrEmpty(outs, "outs", notes) } satisfies CreateAnswer);
        }
        case "update": {
            const { outs } =
                result === undefined || result === null ? { outs: undefined } : members(result, "`{ outs }`");
            return toJsonText({ outs: bagOrEmpty(outs, "outs", notes) } satisfies UpdateAnswer);
        }
        case "read":
            return toJsonText(
                readAnswer(members(result, 'an object with `id` and `props` (`{ id: "" }` when it is gone)'), notes),
            );
        case "find":
            return toJsonText(
                result === undefined || result === null
                    ? ({ id: "", props: null, inputs: null } satisfies ReadAnswer)
                    : readAnswer(members(result, "an object with `id` and `props`, or undefined"), notes),
            );
        default:
            return "";
    }
}

function members(result: unknown, expected: string): Record<string, unknown> {
    if (result === null || typeof result !== "object" || isArray(result) || isSpecial(result)) {
        throw new BadValue("the result", `is ${nameOf(result)}, not ${expected}`);
    }
    return result as Record<string, unknown>;
}

function bagOrEmpty(value: unknown, path: string, notes: Reservations): Bag {
    return value === undefined || value === null ? {} : toBag(value, path, notes);
}

function checkAnswer(result: Record<string, unknown>, news: Bag, notes: Reservations): CheckAnswer {
    const failures = result.failures ?? [];
    if (!isArray(failures)) {
        throw new BadValue("failures", `must be a list, but is ${nameOf(failures)}`);
    }
    return {
        inputs:
            result.inputs === undefined || result.inputs === null
                ? toBag(news, "inputs")
                : toBag(result.inputs, "inputs", notes),
        failures: failures.map((failure: unknown, index) => {
            const { property, reason } = members(
                failure,
                `an object with \`property\` and \`reason\` (failures[${index}])`,
            );
            return { property: textOrEmpty(property), reason: textOrEmpty(reason) };
        }),
    };
}

function textOrEmpty(value: unknown): string {
    return value === undefined || value === null ? "" : String(value);
}

function diffAnswer(result: Record<string, unknown>): DiffAnswer {
    const { changes, deleteBeforeReplace } = result;
    return {
        changes: typeof changes === "boolean" ? changes : null,
        replaces: names(result.replaces, "replaces"),
        stables: names(result.stables, "stables"),
        deleteBeforeReplace:
            deleteBeforeReplace === undefined || deleteBeforeReplace === null ? null : Boolean(deleteBeforeReplace),
    };
}

function names(value: unknown, path: string): string[] {
    if (value === undefined || value === null) {
        return [];
    }
    if (!isArray(value) || !value.every((name) => typeof name === "string")) {
        throw new BadValue(path, `must be a list of property names, but is ${nameOf(value)}`);
    }
    return value;
}

function readAnswer(result: Record<string, unknown>, notes: Reservations): ReadAnswer {
    const { id, props, inputs } = result;
    if (id !== undefined && id !== null && typeof id !== "string") {
        throw new BadValue("the result", `has ${nameOf(id)} as id: it must be a text`);
    }
    return {
        id: id ?? "",
        props: props === undefined || props === null ? null : toBag(props, "props", notes),
        inputs: inputs === undefined || inputs === null ? null : toBag(inputs, "inputs", notes),
    };
}

function failureOf(thrown: unknown, provider: object, method: string, outputs: Outputs): CallFailure {
    const message = describeWithCauses(thrown);
    const traceback = tracebackOf(thrown);
    const transience = transienceOf(thrown, provider);
    const said = transience === undefined ? {} : { transience };
    const failure: CallFailure = { kind: "raised", message, traceback, ...said };
    const partial = thrown as { id?: unknown; properties?: unknown; reasons?: unknown } | null | undefined;
    if (
        !["create", "update", "read", "find"].includes(method) ||
        typeof partial !== "object" ||
        partial === null ||
        !partial.id
    ) {
        return failure;
    }
    // The object exists: its id must not be lost over words or properties that cannot be read.
    let reasons: string[] = [];
    try {
        reasons = isArray(partial.reasons) ? partial.reasons.map(String) : [];
    } catch (fault) {
        reasons = [`a reason that cannot be shown: ${describe(fault)}`];
    }
    if (reasons.length === 0) {
        reasons.push(message);
    }
    let properties: Bag = {};
    try {
        properties = bagOrEmpty(partial.properties, "the error's properties", { notes: [], outputs });
    } catch (fault) {
        reasons.push(describe(fault));
        properties = usableIn(partial, outputs);
    }
    return { kind: "notInitialized", message, traceback, id: String(partial.id), properties, reasons, ...said };
}

function usableIn(partial: { properties?: unknown }, outputs: Outputs): Bag {
    try {
        return usable(partial.properties, outputs);
    } catch {
        // A getter of the error throws.
        return {};
    }
}

/** How messages name a provider object. */
export function labelOf(provider: object): string {
    const name = (getPrototypeOf(provider) as { constructor?: { name?: string } } | null)?.constructor?.name;
    return name === undefined || name === "" || name === "Object" ? "the provider" : `provider \`${name}\``;
}
