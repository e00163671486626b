// HTTP recorded once and played back: requests through `fetch`, `http` and `https`, whatever library makes them. Each is kept
// under the resource and the method in whose call it was made, so that resources may take turns in any order.
import * as fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import * as path from "node:path";
import { callStorage } from "../../current";
import { parseJson } from "../../originals";
import { endsWithin } from "../../process/waiting";
import { redact } from "../redaction";
import { installation, requireSupported } from "../supported/versions";

/**
 * What is recorded. `none`: nothing, a request that is not on the cassette fails. `once`: everything, if there is no file yet.
 * `new`: what is not on it. `all`: everything, again. The variable MALOKO_RECORD has the last word.
 */
export type RecordMode = "none" | "once" | "new" | "all";

export interface CassetteOptions {
    /** Default: `none`. */
    record?: RecordMode;
    /** Texts that must not be in the file; the secrets of the test's stacks are never in it. */
    secrets?: string[];
    /** Requests that are let through and never recorded, such as those to a local server of the test. */
    passThrough?: (url: URL) => boolean;
}

interface Body {
    text?: string;
    /** What is no text, as base64. */
    bytes?: string;
}

interface Episode {
    method: string;
    url: string;
    body?: Body;
    status: number;
    headers: Record<string, string>;
    response: Body;
}

/** What is in a file: episodes by `resource.method`; those outside of calls are under `program`. */
interface Tape {
    version: 1;
    episodes: Record<string, Episode[]>;
}

interface Controller {
    respondWith(response: Response): void;
    errorWith(error: Error): void;
}

interface Interceptor {
    on(
        event: "request",
        listener: (arg: { request: Request; requestId: string; controller: Controller }) => Promise<void>,
    ): void;
    on(
        event: "response",
        listener: (arg: { request: Request; requestId: string; response: Response }) => Promise<void>,
    ): void;
    apply(): void;
    dispose(): void;
}

const MODES: RecordMode[] = ["none", "once", "new", "all"];
// Of no use when played back, or likely to let somebody in.
const UNRECORDED = new Set([
    "set-cookie",
    "authorization",
    "www-authenticate",
    "date",
    "content-encoding",
    "content-length",
    "transfer-encoding",
    "connection",
    "keep-alive",
]);

// So long (milliseconds) an answer may take to come when the cassette is ejected.
const PATIENCE = 1000;

// Interception is the thread's: there is one `fetch`.
let playing: string | undefined;

/** A cassette in use. */
export class Cassette {
    readonly #interceptor: Interceptor;
    readonly #tape: Tape;
    readonly #played = new Map<string, Set<Episode>>();
    readonly #missing: string[] = [];
    /** Requests that are on their way, and are to be recorded. */
    readonly #expected = new Map<string, { key: string; recorded: () => void; done: Promise<void> }>();
    readonly #records: boolean;
    #changed = false;
    #inUse = true;

    /**
     * Begins to play or record. `secrets` gives what must not be written, when it is written. Throws an error that says
     * what to do when the file is missing or unreadable, or when a cassette is in use already.
     */
    constructor(
        readonly file: string,
        private readonly options: CassetteOptions,
        private readonly secrets: () => string[],
    ) {
        const mode = modeOf(options.record);
        const exists = fs.existsSync(file);
        if (!exists && mode === "none") {
            throw new Error(
                `there is no cassette ${file}: record it with MALOKO_RECORD=once, and have the file in your repository`,
            );
        }
        if (playing !== undefined) {
            throw new Error(
                `cassette ${file} cannot be used while ${playing} is: tests with cassettes must not run at once in a file`,
            );
        }
        this.#records = mode === "all" || mode === "new" || (mode === "once" && !exists);
        this.#tape = exists && mode !== "all" ? readTape(file) : { version: 1, episodes: {} };
        this.#interceptor = interceptor();
        this.#interceptor.on("request", ({ request, requestId, controller }) =>
            this.#asked(request, requestId, controller),
        );
        this.#interceptor.on("response", async ({ request, requestId, response }) => {
            const expected = this.#expected.get(requestId);
            if (expected !== undefined) {
                await this.#record(expected.key, request, response);
                expected.recorded();
            }
        });
        playing = file;
        this.#interceptor.apply();
        // Also for those who import `request` by name.
        syncBuiltinESMExports();
    }

    /** Is it played or recorded just now? */
    get inUse(): boolean {
        return this.#inUse;
    }

    /** Ends it, and writes what was recorded. Throws when a request was made that is not on the cassette. */
    async eject(): Promise<void> {
        if (!this.#inUse) {
            return;
        }
        this.#inUse = false;
        // Whoever asked may have the answer before the interceptor tells of it; one that never comes is nothing to record.
        await endsWithin(PATIENCE, Promise.all([...this.#expected.values()].map(({ done }) => done)));
        this.#interceptor.dispose();
        syncBuiltinESMExports();
        playing = undefined;
        if (this.#changed) {
            fs.mkdirSync(path.dirname(this.file), { recursive: true });
            const tape = JSON.stringify(sorted(this.#tape), (_key, value: unknown) => this.#redacted(value), 2);
            fs.writeFileSync(this.file, `${tape}\n`);
        }
        if (this.#missing.length > 0) {
            throw new Error(this.#missing.join("\n"));
        }
    }

    #passes(request: Request): boolean {
        return this.options.passThrough?.(new URL(request.url)) ?? false;
    }

    async #asked(request: Request, requestId: string, controller: Controller): Promise<void> {
        if (this.#passes(request)) {
            return;
        }
        const key = keyOf();
        const url = this.#redacted(request.url);
        const played = this.#played.get(key) ?? new Set();
        this.#played.set(key, played);
        const episode = this.#tape.episodes[key]?.find(
            (it) => it.method === request.method && it.url === url && !played.has(it),
        );
        if (episode !== undefined) {
            played.add(episode);
            const empty = episode.status === 204 || episode.status === 304;
            const body = empty ? null : bytesOf(episode.response);
            controller.respondWith(new Response(body, { status: episode.status, headers: episode.headers }));
        } else if (!this.#records) {
            const text =
                `${request.method} ${url} (in ${key}) is not on cassette ${this.file}, or not as often: ` +
                "record it with MALOKO_RECORD=new";
            this.#missing.push(text);
            controller.errorWith(new TypeError(text));
        } else {
            let recorded = (): void => {};
            const done = new Promise<void>((resolve) => {
                recorded = resolve;
            });
            this.#expected.set(requestId, { key, recorded, done });
        }
    }

    async #record(key: string, request: Request, response: Response): Promise<void> {
        const [asked, answered] = await Promise.all([bodyOf(request.clone()), bodyOf(response.clone())]);
        const headers = [...response.headers].filter(([name]) => !UNRECORDED.has(name.toLowerCase()));
        const episode: Episode = {
            method: request.method,
            url: this.#redacted(request.url),
            ...(asked.text === "" ? {} : { body: asked }),
            status: response.status,
            headers: Object.fromEntries(headers),
            response: answered,
        };
        const episodes = this.#tape.episodes[key] ?? [];
        this.#tape.episodes[key] = [...episodes, episode];
        // What was just recorded is not to be played to the same run.
        this.#played.set(key, (this.#played.get(key) ?? new Set()).add(episode));
        this.#changed = true;
    }

    #redacted<T>(value: T): T {
        return typeof value === "string"
            ? (redact(value, [...this.secrets(), ...(this.options.secrets ?? [])]) as T)
            : value;
    }
}

function modeOf(option: RecordMode | undefined): RecordMode {
    const mode = (process.env.MALOKO_RECORD as RecordMode | undefined) || option || "none";
    if (!MODES.includes(mode)) {
        throw new Error(`'${mode}' is no record mode of cassettes: there are ${MODES.join(", ")}`);
    }
    return mode;
}

function readTape(file: string): Tape {
    let tape: Partial<Tape> | null;
    try {
        tape = parseJson(fs.readFileSync(file, "utf8")) as Partial<Tape> | null;
    } catch (error) {
        throw new Error(`cassette ${file} cannot be read: ${(error as Error).message}; record it again`, {
            cause: error,
        });
    }
    if (tape?.version !== 1 || tape.episodes === undefined) {
        throw new Error(
            `cassette ${file} has no \`version\` 1 with \`episodes\`: record it again with MALOKO_RECORD=all`,
        );
    }
    return tape as Tape;
}

function keyOf(): string {
    const call = callStorage.getStore();
    return call === undefined ? "program" : `${call.urn.slice(call.urn.lastIndexOf("::") + 2)}.${call.method}`;
}

async function bodyOf(message: Request | Response): Promise<Body> {
    const bytes = Buffer.from(await message.arrayBuffer());
    const text = bytes.toString("utf8");
    return Buffer.from(text, "utf8").equals(bytes) ? { text } : { bytes: bytes.toString("base64") };
}

function bytesOf({ text, bytes }: Body): Uint8Array<ArrayBuffer> | string {
    return bytes === undefined ? (text ?? "") : new Uint8Array(Buffer.from(bytes, "base64"));
}

// The order in which resources take turns must not show in the file.
function sorted(tape: Tape): Tape {
    const entries = Object.entries(tape.episodes).sort(([a], [b]) => (a < b ? -1 : 1));
    return { version: 1, episodes: Object.fromEntries(entries) };
}

function interceptor(): Interceptor {
    requireSupported("@mswjs/interceptors", "a cassette");
    try {
        const { BatchInterceptor } = require("@mswjs/interceptors") as {
            BatchInterceptor: new (options: object) => Interceptor;
        };
        const { ClientRequestInterceptor } = require("@mswjs/interceptors/ClientRequest") as {
            ClientRequestInterceptor: new () => object;
        };
        const { FetchInterceptor } = require("@mswjs/interceptors/fetch") as { FetchInterceptor: new () => object };
        return new BatchInterceptor({
            name: "maloko",
            interceptors: [new ClientRequestInterceptor(), new FetchInterceptor()],
        });
    } catch (error) {
        throw new Error(
            "cassettes need the package @mswjs/interceptors, which could not be loaded: " +
                `\`${installation("@mswjs/interceptors")}\` (${(error as Error).message})`,
            { cause: error },
        );
    }
}
