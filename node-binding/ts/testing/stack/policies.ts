// Policies that look at what the operations of a test do: objects of @pulumi/policy, and the folders of packs.
import { createRequire } from "node:module";
import path from "node:path";

import type { Run } from "../../run/run";

/** What the pack of policies is called that have no pack. */
const PACK = "policies";
/** The methods of the service `Analyzer` that are asked of policies. */
const METHODS = {
    Remediate: { make: "makeRemediateRpcFun", request: "AnalyzeRequest" },
    Analyze: { make: "makeAnalyzeRpcFun", request: "AnalyzeRequest" },
    AnalyzeStack: { make: "makeAnalyzeStackRpcFun", request: "AnalyzeStackRequest" },
} as const;
/** The members of policies that are functions of arguments with `getConfig`, or lists of them. */
const FUNCTIONS = ["validateResource", "remediateResource", "validateStack"] as const;

/** A policy of `@pulumi/policy`, or the folder of a pack, absolute or relative to the working directory. */
export type PolicyOrFolder = { name: string } | string;

/** A resource that violates a policy. */
export interface Violation {
    policy: string;
    /** Its pack's name; `policies` where the test gave the policy as an object. */
    pack: string;
    level: "advisory" | "mandatory";
    /** Null where nobody says. */
    severity: "low" | "medium" | "high" | "critical" | null;
    /** The resource's name. */
    name: string;
    urn: string;
    message: string;
}

/** A resource that a policy rewrote. */
export interface Remediation {
    policy: string;
    pack: string;
    /** The resource's name. */
    name: string;
    urn: string;
    /** Its inputs before; what is secret is hidden. */
    before: Record<string, unknown>;
    after: Record<string, unknown>;
}

/** The policies of an order, as the engine's side takes them. */
export interface PolicyOrder {
    folders: string[];
    own?: { token: string; info: string };
    config?: Record<string, unknown>;
}

interface Message {
    serializeBinary(): Uint8Array;
}

type Answer = (call: { request: unknown }, done: (error: unknown, response?: Message) => void) => void;
type Make = (name: string, version: string, level: string, policies: object[]) => Answer;
type MessageClass = { deserializeBinary(bytes: Uint8Array): unknown };

interface ConfigureRequest {
    getPolicyconfigMap(): {
        forEach(take: (config: PolicyConfigMessage, policy: string) => void): void;
    };
}

interface PolicyConfigMessage {
    getEnforcementlevel(): number;
    getProperties(): { toJavaScript(): Record<string, unknown> } | undefined;
}

interface Sdk {
    server: Record<string, Make>;
    messages: Record<string, MessageClass>;
    protoutil: {
        makeAnalyzerInfo(name: string, version: string, level: string, pack: object): Message;
        convertEnforcementLevel(level: number): string;
    };
}

type Configs = Map<string, { level: string; properties: Record<string, unknown> }>;

/** The order for policies; the functions among them answer by way of a run. */
export function policyOrder(
    run: Run,
    given: PolicyOrFolder[],
    config: Record<string, unknown> | undefined,
    directory: string,
): PolicyOrder {
    const folders = given.filter((it) => typeof it === "string").map((folder) => path.resolve(directory, folder));
    const policies = given.filter((it) => typeof it !== "string");
    const wrong = policies.find((it) => typeof it?.name !== "string" || !FUNCTIONS.some((name) => name in it));
    if (wrong !== undefined) {
        throw new TypeError(`\`policies\` takes policies of @pulumi/policy and folders of packs, not ${String(wrong)}`);
    }
    const order = { folders, ...(config === undefined ? {} : { config }) };
    return policies.length === 0 ? order : { ...order, own: own(run, policies, sdkFrom(directory)) };
}

function sdkFrom(directory: string): Sdk {
    const require = createRequire(path.join(directory, "package.json"));
    let server: string;
    try {
        server = require.resolve("@pulumi/policy/server");
    } catch {
        throw new Error(
            "`policies` needs the package @pulumi/policy, 1.21 or later: npm install --save-dev @pulumi/policy",
        );
    }
    const inside = createRequire(server);
    return {
        server: require(server) as Sdk["server"],
        messages: inside("@pulumi/pulumi/proto/analyzer_pb") as Sdk["messages"],
        protoutil: inside("./protoutil") as Sdk["protoutil"],
    };
}

function own(run: Run, policies: object[], { server, messages, protoutil }: Sdk): { token: string; info: string } {
    const configs: Configs = new Map();
    const configured = policies.map((policy) => configurable(policy, configs));
    const answers = new Map(
        Object.entries(METHODS).map(([method, { make, request }]) => {
            const answer = server[make]?.(PACK, "", "advisory", configured);
            return [method, { answer, read: messages[request] }];
        }),
    );
    run.answer(PACK, (bytes) => {
        const end = bytes.indexOf(0);
        const method = Buffer.from(bytes.subarray(0, end)).toString();
        const body = bytes.subarray(end + 1);
        if (method === "Configure") {
            const request = messages.ConfigureAnalyzerRequest?.deserializeBinary(body) as ConfigureRequest;
            request.getPolicyconfigMap().forEach((config, policy) => {
                const level = protoutil.convertEnforcementLevel(config.getEnforcementlevel());
                configs.set(policy, { level, properties: config.getProperties()?.toJavaScript() ?? {} });
            });
            return Promise.resolve(new Uint8Array());
        }
        const { answer, read } = answers.get(method) ?? {};
        return new Promise((resolve, reject) => {
            answer?.({ request: read?.deserializeBinary(body) }, (error, response) => {
                if (error !== null && error !== undefined) {
                    const { details, message } = error as { details?: string; message?: string };
                    reject(new Error(details ?? message ?? String(error)));
                } else {
                    resolve(response?.serializeBinary() ?? new Uint8Array());
                }
            });
        });
    });
    const info = protoutil.makeAnalyzerInfo(PACK, "", "advisory", { policies });
    return { token: PACK, info: Buffer.from(info.serializeBinary()).toString("base64") };
}

// A policy that asks for its configuration here. The SDK keeps that of one pack for the whole process, and a process of tests
// has several runs.
function configurable(policy: object, configs: Configs): object {
    const { name, enforcementLevel } = policy as { name: string; enforcementLevel?: string };
    const wrapped = (check: unknown): unknown => {
        if (Array.isArray(check)) {
            return check.map(wrapped);
        }
        if (typeof check !== "function") {
            return check;
        }
        const asking = (args: object, ...rest: unknown[]): unknown => {
            const getConfig = (): object => configs.get(name)?.properties ?? {};
            return Reflect.apply(check, policy, [Object.assign(args, { getConfig }), ...rest]);
        };
        // The type of resource that it is for is a member of the function.
        return Object.assign(asking, check);
    };
    const checks = FUNCTIONS.filter((it) => it in policy).map((it) => [it, wrapped(Reflect.get(policy, it))]);
    return Object.defineProperty({ ...policy, ...Object.fromEntries(checks) }, "enforcementLevel", {
        enumerable: true,
        get: () => configs.get(name)?.level ?? enforcementLevel,
    });
}
