// `fleet dev`: a server for tries, and two workers, until Ctrl-C.
import { ConfigurationError, FleetError } from "../ends";
import { DevServer, placeOfServer } from "./dev-server";
import { queuesOf, startWorker, warnOfEnvironment } from "./helpers";
import { Interrupt, uninterrupted } from "./interrupts";
import { KeptWorkers } from "./kept-workers";
import { fleetOf, type Request } from "./request";
import { say } from "./texts";
import { aMoment } from "./watch";

const WORKERS = 2;
/** Milliseconds. */
const LOOK = 300;

/** Runs until Ctrl-C, or until the server ends. A worker that ends is followed by another. */
export async function run(asked: Request): Promise<number> {
    const plan = fleetOf(asked).plan("up");
    const [engine, uiPort] = await placeOfServer(asked, plan.engine);
    const server = new DevServer(engine, uiPort, asked.directory);
    let kept: KeptWorkers | undefined;
    try {
        await server.waitUntilReady();
        // Workers without an engine in their file find it by Temporal's own variable.
        process.env.TEMPORAL_ADDRESS = engine.address;
        warnOfEnvironment(plan, queuesOf(plan));
        kept = new KeptWorkers(WORKERS, () => startWorker(asked.file, queuesOf(plan), asked.slots));
        const page = `http://127.0.0.1:${uiPort}`;
        say(`server ${engine.address} · its page ${page} · ${WORKERS} workers · Ctrl-C ends all of it`);
        if (plan.engine === null && asked.port) {
            say(`commands find it with TEMPORAL_ADDRESS=${engine.address}, or by \`engine\` in the fleet's file`);
        }
        while (true) {
            await aMoment(LOOK);
            server.look();
            kept.look();
        }
    } catch (error) {
        if (error instanceof FleetError && !(error instanceof ConfigurationError)) {
            // Workers without a server take their time to end.
            say(`error: ${error.message}`);
            return 1;
        }
        if (!(error instanceof Interrupt)) {
            throw error;
        }
        say("\nending");
        return 0;
    } finally {
        await uninterrupted(async () => {
            await kept?.end();
            await server.end();
        });
    }
}
