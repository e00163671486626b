// Outputs that provider methods read with `.get()`. The stock runtime writes their values into the serialised provider;
// live providers get them by waiting for those outputs before their resource is registered.
import * as inspector from "node:inspector";
import { METHODS } from "./methods";

/** An output of any copy of the SDK. */
export interface AnyOutput {
    promise(withUnknowns?: boolean): Promise<unknown>;
    isKnown: Promise<boolean>;
    isSecret?: Promise<boolean>;
    allResources?(): Promise<Set<unknown>>;
    resources(): Set<unknown>;
}

// `a.b.c.get(`: what is read, as a path from a name in scope or from `this`.
const READ = /((?:this|[A-Za-z_$][\w$]*)(?:\??\.[A-Za-z_$][\w$]*)*)\??\.get\(/g;
const NAME = /[A-Za-z_$][\w$]*/g;
const MAX_HELPERS = 50;

/** The outputs on whose values the methods of a provider call `.get()`, as far as their code tells. */
export function capturedOutputs(provider: object): AnyOutput[] {
    let outputs = known.get(provider);
    if (outputs === undefined) {
        outputs = searchMethods(provider);
        known.set(provider, outputs);
    }
    return outputs;
}

const known = new WeakMap<object, AnyOutput[]>();
const readers = new WeakMap<object, boolean>();

// Does the code of a function call `.get(` at all? Asked for every object of a class, answered once.
function reads(code: object): boolean {
    let answer = readers.get(code);
    if (answer === undefined) {
        answer = Function.prototype.toString.call(code).includes(".get(");
        readers.set(code, answer);
    }
    return answer;
}

function searchMethods(provider: object): AnyOutput[] {
    const found = new Set<AnyOutput>();
    const seen = new Set<unknown>();
    for (const method of METHODS) {
        search((provider as Record<string, unknown>)[method], provider, found, seen);
    }
    return [...found];
}

function search(code: unknown, self: object, found: Set<AnyOutput>, seen: Set<unknown>): void {
    if (typeof code !== "function" || seen.has(code) || seen.size > MAX_HELPERS) {
        return;
    }
    seen.add(code);
    if (!reads(code)) {
        return;
    }
    const text = Function.prototype.toString.call(code);
    const names = new Set(text.match(NAME));
    const scope = variablesOf(code, names);
    for (const [, path = ""] of text.matchAll(READ)) {
        const [root = "", ...members] = path.split(/\??\./);
        const value = members.reduce(member, root === "this" ? self : scope.get(root));
        if (isOutput(value)) {
            found.add(value);
        }
    }
    // Functions beside the method, which it may call.
    for (const value of scope.values()) {
        search(value, self, found, seen);
    }
    for (const name of names) {
        search(member(self, name), self, found, seen);
    }
}

function member(holder: unknown, name: string): unknown {
    if (holder === null || (typeof holder !== "object" && typeof holder !== "function") || isOutput(holder)) {
        return undefined;
    }
    try {
        return (holder as Record<string, unknown>)[name];
    } catch {
        return undefined;
    }
}

export function isOutput(value: unknown): value is AnyOutput {
    return (
        typeof value === "object" && value !== null && (value as { __pulumiOutput?: unknown }).__pulumiOutput === true
    );
}

const HAND_OVER = "maloko.handOver";

// The variables that a function sees, from its inside outwards; only the debugger's interface can tell.
function variablesOf(code: object, names: Set<string>): Map<string, unknown> {
    const variables = new Map<string, unknown>();
    const session = new inspector.Session();
    const key = Symbol.for(HAND_OVER);
    const host = globalThis as unknown as Record<symbol, unknown>;
    try {
        session.connect();
        const send = <T>(method: string, parameters: object): T | undefined => {
            let answer: T | undefined;
            // Sessions on the own thread answer before `post` returns.
            session.post(method, parameters, (_error: Error | null, result?: object) => {
                answer = result as T | undefined;
            });
            return answer;
        };
        host[key] = code;
        const expression = `globalThis[Symbol.for(${JSON.stringify(HAND_OVER)})]`;
        const remote = send<inspector.Runtime.EvaluateReturnType>("Runtime.evaluate", { expression });
        const propertiesOf = (
            it: inspector.Runtime.RemoteObject | undefined,
        ): inspector.Runtime.GetPropertiesReturnType | undefined =>
            it && send("Runtime.getProperties", { objectId: it.objectId, ownProperties: true });
        const own = propertiesOf(remote?.result);
        const scopes = propertiesOf(own?.internalProperties?.find(({ name }) => name === "[[Scopes]]")?.value);
        // The last one is the global scope, which holds nothing of the program's.
        for (const { value: scope } of scopes?.result.slice(0, -1) ?? []) {
            for (const { name, value } of propertiesOf(scope)?.result ?? []) {
                if (!names.has(name) || variables.has(name) || value?.objectId === undefined) {
                    continue;
                }
                const functionDeclaration = `function () { ${expression} = this; }`;
                send("Runtime.callFunctionOn", { objectId: value.objectId, functionDeclaration });
                variables.set(name, host[key]);
            }
        }
    } catch {
        // Without a debugger's interface (some runtimes lack it), `.get()` says what to do instead.
    } finally {
        delete host[key];
        session.disconnect();
    }
    return variables;
}
