// The corpus of providers (`engine-kit/corpus`), and the one provider that behaves as its cases say.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as others } from "node:timers/promises";
import { inspect } from "node:util";
import type * as pulumi from "@pulumi/pulumi";
import { currentCall } from "maloko";
import type { LawName } from "maloko/vitest";
import type { Props } from "../support/kit";

/** What a case says of one method; see `engine-kit/corpus/README.md`. */
interface How {
    [member: string]: unknown;
    drops?: string[];
    keeps?: string[];
    sets?: Props;
    uppercases?: string[];
    appends?: string[];
    counts?: string[];
    odd?: Record<string, string>;
    asks?: boolean;
    prints?: string;
    waits?: boolean;
    raises?: { when: string; text: string };
    defaults?: Props;
    changesNews?: Props;
    changesOlds?: Props;
    expects?: Props;
    ignores?: string[];
    replaces?: string[];
    always?: boolean;
    deleteFirst?: boolean;
    ignoresKey?: boolean;
    shares?: boolean;
    skips?: boolean;
    id?: string;
    ids?: string[];
    remembers?: boolean;
    needsProps?: boolean;
    leaves?: string[];
    moves?: boolean;
    all?: boolean;
}

export interface Case {
    name: string;
    provider: Record<string, How | null>;
    shows?: string;
    inputs?: Props[];
    settings?: { secret?: string[]; volatile?: string[]; waive?: Record<string, string>; world?: false };
    /** The laws that are tried; L14, which waits, only where it is named. */
    laws?: LawName[];
    breaks: Told<LawName[]>;
    law?: LawName;
    says?: Told<string[]>;
    skips?: Told<Partial<Record<LawName, string>>>;
}

/** What is expected; `python` and `nodejs` where the kits differ. */
export type Told<T> = T | { python: T; nodejs: T };

/** The inputs of a case that gives none. */
export const INPUTS: Props[] = [
    { name: "box", color: "red", size: 1 },
    { name: "box", color: "blue", size: 1 },
];
/** What an earlier release left in a state. */
export const PREVIOUS = INPUTS.slice(0, 1).map((inputs) => ({
    id: "box-1",
    inputs,
    outputs: { ...inputs, url: "shop/box-1" },
}));

const CORPUS = join(import.meta.dirname, "..", "..", "engine-kit", "corpus");
export const CASES: Case[] = readdirSync(CORPUS)
    .filter((name) => name.endsWith(".json"))
    .sort()
    .flatMap((name) => JSON.parse(readFileSync(join(CORPUS, name), "utf8")) as Case[]);

const ODD: Record<string, unknown> = {
    "not a number": Number.NaN,
    infinity: Number.POSITIVE_INFINITY,
    "half a surrogate pair": "\ud800",
};

/** The service: boxes by id. A create with a known key gives the box that it made before. */
export class Shop {
    readonly boxes = new Map<string, Props>();
    readonly keys = new Map<string, string>();
    made = 0;
    calls = 0;

    reset() {
        this.boxes.clear();
        this.keys.clear();
        this.made = 0;
        this.calls = 0;
    }

    objects() {
        return this.boxes;
    }

    mutateRemote(id: string) {
        Object.assign(this.boxes.get(id) ?? {}, { color: "rust" });
    }

    deleteRemote(id: string) {
        this.boxes.delete(id);
    }
}

// Counts on from world to world.
let creates = 0;

/** Lets go of the calls that wait. */
export const waiting: (() => void)[] = [];

/** Does what a good provider of boxes does, but for what its case says of each method. */
class Box implements pulumi.dynamic.ResourceProvider {
    declare readonly rules: Case;
    protected declare readonly shop: Shop;
    protected declare last: Props;
    private readonly requests: Props[] = [];

    constructor(shop: Shop) {
        // Whoever prints a provider is not to see what the service has.
        Object.defineProperty(this, "shop", { value: shop, enumerable: false });
        Object.defineProperty(this, "last", { value: {}, enumerable: false, writable: true });
    }

    [inspect.custom](): string {
        return String(this.filled(this.rules.shows ?? "Box", { ...this.last, shop: inspect(this.shop) }));
    }

    async check(olds: Props, news: Props): Promise<pulumi.dynamic.CheckResult> {
        const how = this.how("check");
        await this.begin("check", news);
        const inputs = this.answer("check", { ...how.defaults, ...structuredClone(news) }, olds);
        Object.assign(news, how.changesNews);
        Object.assign(olds, how.changesOlds);
        return { inputs };
    }

    async diff(_id: string, olds: Props, news: Props): Promise<pulumi.dynamic.DiffResult> {
        const { ignores = [], replaces = ["name"], expects = {}, always, deleteFirst = false } = this.how("diff");
        await this.begin("diff", news);
        const wanted: Props = { ...news, ...expects };
        const changed = Object.keys(wanted).filter((key) => !ignores.includes(key) && olds[key] !== wanted[key]);
        return {
            changes: changed.length > 0 || always === true,
            replaces: changed.filter((key) => replaces.includes(key)),
            deleteBeforeReplace: deleteFirst,
        };
    }

    async create(given: Props) {
        let props = given;
        const { ignoresKey, shares, skips, id, ids = [id] } = this.how("create");
        const { boxes, keys } = this.shop;
        const taken = [...boxes.values()].some(({ name }) => name === props.name);
        const key = ignoresKey ? "" : currentCall().operationKey;
        let known = key === "" ? "" : (keys.get(key) ?? "");
        this.last = props;
        await this.begin("create", props, taken && !boxes.has(known) ? "taken" : undefined);
        if (shares) {
            // The request that all calls under way share: always the same one, whichever came first.
            const own = props;
            this.requests.push(own);
            await others();
            [props = own] = [...this.requests].sort((one, other) => (String(one.color) < String(other.color) ? -1 : 1));
            await others();
            this.requests.splice(this.requests.indexOf(own), 1);
        }
        if (!boxes.has(known)) {
            this.shop.made++;
            known = String(this.filled(ids[creates++ % ids.length] ?? `box-${this.shop.made}`, props));
            if (key !== "") {
                keys.set(key, known);
            }
        }
        if (!skips) {
            boxes.set(known, { ...props });
        }
        return { id: known, outs: this.answer("create", { ...props, url: `shop/${known}` }, {}, known) };
    }

    async read(id: string, props: Props = {}): Promise<pulumi.dynamic.ReadResult> {
        const how = this.how("read");
        const found = this.shop.boxes.get(id);
        await this.begin("read", props, found === undefined ? "gone" : undefined);
        if (how.remembers && "name" in props) {
            const { url: _, ...inputs } = props;
            return { id, props, inputs };
        }
        if (found === undefined || (how.needsProps && !("url" in props))) {
            return { id: "" };
        }
        const outs = this.answer("read", { ...found, url: `shop/${id}` }, {}, id);
        const inputs = Object.fromEntries(Object.entries(outs).filter(([key]) => Object.hasOwn(found, key)));
        return { id: String(this.filled(how.id ?? id, found, id)), props: outs, inputs };
    }

    async update(id: string, olds: Props, news: Props) {
        const { leaves = [], moves, skips } = this.how("update");
        const { boxes } = this.shop;
        this.last = news;
        await this.begin("update", news, boxes.has(id) ? undefined : "gone");
        const kept = Object.fromEntries(leaves.map((key) => [key, boxes.get(id)?.[key]]));
        if (moves) {
            boxes.delete(id);
            boxes.set(`box-${++this.shop.made}`, { ...news });
        } else if (!skips) {
            boxes.set(id, { ...news, ...kept });
        }
        return { outs: this.answer("update", { ...news, url: `shop/${id}` }, olds, id) };
    }

    async delete(id: string, props: Props): Promise<void> {
        const { all, skips } = this.how("delete");
        await this.begin("delete", props, this.shop.boxes.has(id) ? undefined : "gone");
        if (all) {
            this.shop.boxes.clear();
        } else if (!skips) {
            this.shop.boxes.delete(id);
        }
    }

    private how(method: string): How {
        return this.rules.provider[method] ?? {};
    }

    private filled(text: unknown, props: Props, id = ""): unknown {
        return Object.entries({ ...props, id, calls: this.shop.calls }).reduce(
            (filled, [key, value]) =>
                typeof filled === "string" ? filled.replaceAll(`{${key}}`, String(value)) : filled,
            text,
        );
    }

    // What comes first in every method: a request, a message, an error.
    private async begin(method: string, props: Props, when?: string): Promise<void> {
        const { asks, prints, waits, raises } = this.how(method);
        if (asks || (method !== "check" && method !== "diff")) {
            this.shop.calls++;
        }
        if (prints !== undefined) {
            process.stdout.write(`${String(this.filled(prints, props))}\n`);
        }
        if (waits) {
            await new Promise<void>((resolve) => waiting.push(resolve));
        }
        if (raises !== undefined && (raises.when === when || raises.when === "always")) {
            throw new Error(String(this.filled(raises.text, props)));
        }
    }

    // The properties that a method returns.
    private answer(method: string, props: Props, olds: Props = {}, id = ""): Props {
        const {
            drops = [],
            keeps = [],
            sets = {},
            uppercases = [],
            appends = [],
            odd = {},
            counts = [],
        } = this.how(method);
        const found: Props = { ...props };
        for (const key of drops) {
            delete found[key];
        }
        for (const key of keeps.filter((name) => Object.hasOwn(olds, name))) {
            found[key] = olds[key];
        }
        for (const [key, value] of Object.entries(sets)) {
            found[key] = this.filled(value, props, id);
        }
        for (const key of uppercases.filter((name) => Object.hasOwn(found, name))) {
            found[key] = String(found[key]).toUpperCase();
        }
        for (const key of appends.filter((name) => Object.hasOwn(found, name))) {
            found[key] = `${String(found[key])}+`;
        }
        for (const [key, name] of Object.entries(odd)) {
            found[key] = ODD[name];
        }
        for (const key of counts) {
            found[key] = ++this.shop.made;
        }
        return found;
    }
}

/** The class of a case's provider: a method that is null there is one that it does not have. */
export function providerOf(rules: Case): new (shop: Shop) => object {
    const found = { Box: class extends Box {} }.Box;
    Object.defineProperty(found.prototype, "rules", { value: rules });
    for (const [name, how] of Object.entries(rules.provider)) {
        if (how === null) {
            Object.defineProperty(found.prototype, name, { value: undefined });
        }
    }
    return found;
}
