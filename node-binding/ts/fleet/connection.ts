// The way to the server.
import type { Client } from "@temporalio/client";
import type { NativeConnection } from "@temporalio/worker";
import { dataConverter } from "./codec";
import { FleetError } from "./ends";
import { temporal } from "./packages";
import type { Engine } from "./wire";

const DEFAULT = "127.0.0.1:7233";

/** Where the server is, and how one comes to it. */
function place(engine: Engine | null) {
    const { connectionOptions, namespace } = temporal("envconfig").loadClientConnectConfig();
    return {
        options: { ...connectionOptions, address: engine?.address ?? connectionOptions.address ?? DEFAULT },
        namespace: engine?.namespace ?? namespace ?? "default",
    };
}

/**
 * A client of the server that the fleet names; what it does not say is in Temporal's own variables and profiles. Throws a
 * `FleetError` when the server cannot be reached.
 */
export async function connect(engine: Engine | null): Promise<Client> {
    const { Client, Connection } = temporal("client");
    const { options, namespace } = place(engine);
    const connection = await reached(options.address, Connection.connect(options));
    return new Client({ connection, namespace, dataConverter: dataConverter() });
}

/** The same for workers, which have a kind of their own. */
export async function connectWorker(
    engine: Engine | null,
): Promise<{ connection: NativeConnection; namespace: string }> {
    const { options, namespace } = place(engine);
    const connection = await reached(options.address, temporal("worker").NativeConnection.connect(options));
    return { connection, namespace };
}

async function reached<T>(address: string, connecting: Promise<T>): Promise<T> {
    try {
        return await connecting;
    } catch (error) {
        throw new FleetError(
            `the Temporal server at ${address} cannot be reached: ${firstLine(error)}\n` +
                "Start one (`maloko fleet dev` has one for tries), or correct `engine` in the fleet's file",
            { cause: error },
        );
    }
}

function firstLine(error: unknown): string {
    return (error instanceof Error ? error.message : String(error)).trim().split("\n", 1)[0] ?? "";
}
