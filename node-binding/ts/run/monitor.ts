// The resource monitor and engine clients that the SDK talks to: plain objects that hand requests to the engine.

import { keysOf } from "../originals";
import type { Sdk } from "../sdk";
import { type RpcCallback, type RpcError, rpcError, UNAVAILABLE } from "./bridge";

/** Where the clients of a run send requests. */
export interface Requests {
    /** Sends a request; the callback is called within the run. */
    send(method: string, request: Uint8Array, callback: RpcCallback): void;
    /** A message of the program; levels as in the engine's protocol (0 debug to 3 error). */
    log(urn: string, level: number, message: string): void;
    /** A resource was registered and has these outputs. */
    registered(type: string, name: string, urn: string, outputs: () => string[]): void;
    /** A registration that the engine refused for a reason of its own: the run ends with it. */
    refused(error: RpcError): void;
}

interface Message {
    serializeBinary(): Uint8Array;
}

interface Registration extends Message {
    getType(): string;
    getName(): string;
}

interface RegistrationResponse {
    getUrn(): string;
    getObject(): { toJavaScript(): Record<string, unknown> } | undefined;
}

type Callback = (error: RpcError | null, response?: unknown) => void;
type Client = Record<string, (request: Message, ...rest: unknown[]) => void>;

// The SDK turns any other failure of these into rejections that nobody handles (they end a process, and fail the
// tests of a user who expects the failure); UNAVAILABLE it takes as "the engine is shutting down".
const REGISTRATIONS = new Set(["RegisterResource", "ReadResource", "RegisterResourceOutputs"]);

/** The resource monitor's client: one function per method of the SDK's own service definition. */
export function monitorClient(sdk: Sdk, requests: Requests): object {
    return clientOf(sdk.monitorMethods, requests, (rpc, request, callback) => (error, response) => {
        if (error === null) {
            if (rpc === "RegisterResource") {
                const { getUrn, getObject } = response as RegistrationResponse;
                const outputs = (): string[] => keysOf(getObject.call(response)?.toJavaScript() ?? {});
                const registration = request as Registration;
                requests.registered(registration.getType(), registration.getName(), getUrn.call(response), outputs);
            }
            callback(null, response);
        } else if (REGISTRATIONS.has(rpc)) {
            if (error.code !== UNAVAILABLE) {
                requests.refused(error);
            }
            // Of these the SDK takes UNAVAILABLE quietly, but for outputs, whose failure it always lets go unhandled.
            if (rpc === "RegisterResourceOutputs") {
                callback(null, {});
            } else {
                callback(unavailable(error));
            }
        } else {
            callback(error);
        }
    });
}

// `taken`: what takes the answer to a request, in the place of the SDK's own callback.
function clientOf(
    methods: Sdk["monitorMethods"],
    requests: Requests,
    taken: (rpc: string, request: Message, callback: Callback) => Callback,
): Client {
    const client: Client = { close: () => {} };
    for (const [name, method] of Object.entries(methods)) {
        const rpc = method.path.slice(method.path.lastIndexOf("/") + 1);
        client[name] = (request, ...rest) => {
            const take = taken(rpc, request, callbackIn(rest));
            requests.send(rpc, request.serializeBinary(), (error, bytes) => {
                take(error, error === null ? method.responseDeserialize(bytes) : undefined);
            });
        };
    }
    return client;
}

function callbackIn(rest: unknown[]): Callback {
    let callback: unknown;
    for (let index = 0; index < rest.length; index++) {
        callback = typeof rest[index] === "function" ? rest[index] : callback;
    }
    return callback as Callback;
}

function unavailable(error: RpcError): RpcError {
    return error.code === UNAVAILABLE ? error : rpcError(UNAVAILABLE, error.details);
}

interface LogRequest extends Message {
    getSeverity(): number;
    getMessage(): string;
    getUrn(): string;
}

/** The engine service's client. Every call is answered: an unanswered `log` would hold up the logs of all stacks. */
export function engineClient(sdk: Sdk, requests: Requests): object {
    const client = clientOf(sdk.engineMethods, requests, (_rpc, _request, callback) => callback);
    client.log = (request, ...rest) => {
        const log = request as LogRequest;
        requests.log(log.getUrn(), log.getSeverity(), log.getMessage());
        callbackIn(rest)(null, {});
    };
    // The root resource is known from its registration.
    client.setRootResource = (_request, ...rest) => callbackIn(rest)(null, {});
    return client;
}
