// `maloko fleet`: what its commands ask of the server. Rust reads the arguments, and makes the texts.
import { parseJson } from "../../originals";
import { textOf } from "../../process/errors";
import { waitForServersHere } from "../connection";
import { ConfigurationError, FleetError } from "../ends";
import * as adopt from "./adopt";
import * as dev from "./dev";
import { Interrupt, listenForInterrupts, waitedFor } from "./interrupts";
import { page } from "./page";
import * as past from "./past";
import type { Request } from "./request";
import * as schedules from "./schedules";
import * as start from "./start";
import * as steer from "./steer";
import { say } from "./texts";
import * as watch from "./watch";
import * as worker from "./worker";

const FAILURE = 1;
/** The exit code of what is wrong with arguments or files. */
const CONFIGURATION = 2;
const INTERRUPTED = 130;

/** Commands that may be started together with their server. */
const BEGIN = ["up", "preview", "refresh", "destroy", "drift", "import", "outputs", "retry", "worker"];
/** Seconds that a server at this machine has to begin. */
const PATIENCE = 20;
/** The same for all other commands: where there is no server, there is nothing to see. */
const PATIENCE_OF_LOOKS = 3;

const COMMANDS: Record<string, (asked: Request) => Promise<number>> = {
    up: start.run,
    preview: start.run,
    refresh: start.run,
    destroy: start.run,
    drift: start.run,
    import: start.run,
    outputs: start.run,
    retry: start.again,
    status: watch.status,
    watch: watch.watch,
    results: past.results,
    history: past.history,
    logs: past.logs,
    page,
    pause: steer.pause,
    resume: steer.resume,
    cancel: steer.cancel,
    schedules: schedules.run,
    worker: worker.run,
    dev: dev.run,
    adopt: adopt.run,
};

/** Performs a command; gives its exit code. `text`: the request, as the command line makes it. */
export async function run(text: string): Promise<number> {
    const asked = parseJson(text) as Request;
    const stopListening = listenForInterrupts();
    // Where nobody reads on, as after `head` or in a closed terminal, the rest is left out.
    process.stdout.on("error", (error: NodeJS.ErrnoException) => {
        if (error.code !== "EPIPE" && error.code !== "EIO") {
            throw error;
        }
    });
    // A command ends what it has begun in order, even when nobody can read what it says.
    process.stderr.on("error", () => {});
    if (asked.command !== "dev") {
        waitForServersHere(say, BEGIN.includes(asked.command) ? PATIENCE : PATIENCE_OF_LOOKS);
    }
    try {
        // It begins after this waits, so that what it waits for itself comes later, and hears of Ctrl-C first.
        return await waitedFor(Promise.resolve(asked).then(perform));
    } catch (error) {
        if (error instanceof Interrupt) {
            return INTERRUPTED;
        }
        say(`error: ${error instanceof FleetError ? error.message : textOf(error)}`);
        return error instanceof ConfigurationError ? CONFIGURATION : FAILURE;
    } finally {
        stopListening();
    }
}

async function perform(asked: Request): Promise<number> {
    const command = COMMANDS[asked.command];
    if (command === undefined) {
        throw new ConfigurationError(`this package has no command \`maloko fleet ${asked.command}\``);
    }
    return command(asked);
}
