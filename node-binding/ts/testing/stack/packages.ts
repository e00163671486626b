// What a test says of resources and functions of packages, by token, and whether their plugins really run.
import path from "node:path";
import type { ProviderRegistry } from "../../providers/registry";
import { show } from "../values";
import { type Inputs, isClass } from "./subject";

/** Stands in for a resource of a package, method by method; the methods that it lacks are the stub's own. */
export interface StubObject {
    check?(olds: Inputs, news: Inputs): unknown;
    diff?(id: string, olds: Inputs, news: Inputs): unknown;
    create?(inputs: Inputs): unknown;
    read?(id: string, props: Inputs): unknown;
    update?(id: string, olds: Inputs, news: Inputs): unknown;
    delete?(id: string, props: Inputs): unknown;
}

/**
 * What stands in for a resource type or a function: a function of the inputs that returns outputs, now or later, or an object
 * with methods. The inputs come back beside them.
 */
export type PackageStub = ((inputs: Inputs) => unknown) | StubObject;

/** Has the stub make an id; `engine-kit/src/stubs/mod.rs` has it as well. */
const COMPUTED_ID = "maloko:computed-id";
const METHODS = ["check", "diff", "create", "read", "update", "delete"] as const;
type Method = (typeof METHODS)[number];

/** As the engine's side takes them. */
export interface PackagesOrder {
    stubs: Record<string, { object: number; methods: string[] }>;
    schemas: string[];
    plugins: string | null;
}

/** The stubs of a stack, checked. */
export class Packages {
    readonly #stubs: [token: string, stub: TestObject][];
    readonly #schemas: readonly string[];
    readonly #real: boolean;

    /** Throws a TypeError for what makes no sense. Without `schemas` they are those of MALOKO_SCHEMAS. */
    constructor(
        stubs: Record<string, PackageStub> = {},
        plugins = process.env.MALOKO_PLUGINS || "stubs",
        schemas?: readonly string[],
    ) {
        if (plugins !== "stubs" && plugins !== "real") {
            throw new TypeError(`plugins is ${show(plugins)}; it is "stubs" (the default) or "real"`);
        }
        this.#real = plugins === "real";
        this.#stubs = Object.entries(stubs).map(([token, given]) => [token, new TestObject(token, given)]);
        if (this.#real && this.#stubs.length > 0) {
            throw new TypeError('`stubs` say nothing where `plugins: "real"` runs them; leave one of the two out');
        }
        if (schemas !== undefined && !Array.isArray(schemas)) {
            throw new TypeError(`\`schemas\` is ${show(schemas)}; it is a list of files and folders`);
        }
        if (this.#real && schemas !== undefined && schemas.length > 0) {
            throw new TypeError('`schemas` say nothing where `plugins: "real"` runs them; leave one of the two out');
        }
        this.#schemas = schemas ?? (process.env.MALOKO_SCHEMAS ?? "").split(path.delimiter).filter(Boolean);
    }

    /** Are they stubbed, or do their plugins run? */
    get kind(): "stubs" | "real" {
        return this.#real ? "real" : "stubs";
    }

    /** As an order has them, for a run whose objects are in this registry. */
    order(registry: ProviderRegistry, directory: string): PackagesOrder {
        const stubs = this.#stubs.map(([token, stub]) => {
            return [token, { object: registry.numberOf(stub), methods: stub.methods }];
        });
        const schemas = this.#schemas.map((place) => path.resolve(directory, place));
        return { stubs: Object.fromEntries(stubs), schemas, plugins: this.#real ? directory : null };
    }
}

/** A provider object that asks what the test gave. What it returns is put into the words of a provider. */
class TestObject {
    readonly methods: Method[];
    readonly #token: string;
    readonly #given: Required<StubObject>;
    readonly #what: string;

    constructor(token: string, given: PackageStub) {
        if (token.split(":").length < 3) {
            const like = "`random:index/randomPet:RandomPet`";
            throw new TypeError(
                `\`stubs\` name ${show(token)}, which is no token; the token of a type or function is like ${like}`,
            );
        }
        this.#token = token;
        const own = METHODS.filter((name) => typeof (given as StubObject | null | undefined)?.[name] === "function");
        const isFunction = typeof given === "function" && !isClass(given) && own.length === 0;
        if (!isFunction && (own.length === 0 || typeof given !== "object")) {
            throw new TypeError(
                `the stub of '${token}' is ${show(given)}; it is a function of the inputs that returns outputs, ` +
                    `or an object with some of the methods ${METHODS.join(", ")}`,
            );
        }
        this.methods = isFunction ? ["create", "update"] : own;
        this.#given = (
            isFunction ? { create: given, update: (_id: string, _olds: Inputs, news: Inputs) => given(news) } : given
        ) as Required<StubObject>;
        this.#what = isFunction ? "the stub" : "";
    }

    async create(props: Inputs): Promise<unknown> {
        const result: unknown = await this.#given.create(props);
        return isMade(result) ? result : { id: COMPUTED_ID, outs: this.#outputs("create", result) };
    }

    async update(id: string, olds: Inputs, news: Inputs): Promise<unknown> {
        const result: unknown = await this.#given.update(id, olds, news);
        return { outs: isMade(result) || hasOuts(result) ? result.outs : this.#outputs("update", result) };
    }

    async read(id: string, props: Inputs): Promise<unknown> {
        const result: unknown = await this.#given.read(id, props);
        if (result === undefined || result === null) {
            return { id: "" };
        }
        const { id: told, props: read } = result as { id?: unknown; props?: unknown };
        return typeof told === "string" && read !== null && typeof read === "object"
            ? result
            : { id, props: this.#outputs("read", result) };
    }

    async check(olds: Inputs, news: Inputs): Promise<unknown> {
        const result: unknown = await this.#given.check(olds, news);
        const checked = result as { inputs?: unknown; failures?: unknown } | null | undefined;
        return Array.isArray(checked?.failures) || (checked?.inputs !== null && typeof checked?.inputs === "object")
            ? result
            : { inputs: { ...news, ...this.#outputs("check", result) } };
    }

    async diff(id: string, olds: Inputs, news: Inputs): Promise<unknown> {
        const result: unknown = await this.#given.diff(id, olds, news);
        return typeof result === "boolean" ? { changes: result } : (result ?? {});
    }

    async delete(id: string, props: Inputs): Promise<void> {
        await this.#given.delete(id, props);
    }

    #outputs(method: Method, result: unknown): Inputs {
        if (result === undefined || result === null) {
            return {};
        }
        if (typeof result === "object" && !Array.isArray(result)) {
            return result as Inputs;
        }
        const what = this.#what === "" ? `\`${method}\` of the stub` : this.#what;
        throw new TypeError(`${what} of '${this.#token}' returned ${show(result)}; return an object, or nothing`);
    }
}

function hasOuts(result: unknown): result is { outs: unknown } {
    const outs = (result as { outs?: unknown } | null | undefined)?.outs;
    return outs !== null && typeof outs === "object" && Object.keys(result as object).length === 1;
}

function isMade(result: unknown): result is { id: string; outs: unknown } {
    const made = result as { id?: unknown; outs?: unknown } | null | undefined;
    return typeof made?.id === "string" && made.outs !== null && typeof made.outs === "object";
}
