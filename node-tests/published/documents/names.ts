// The names that blocks of the documents use and do not define, for the compiler. Each list in braces stands on one line.
import * as pulumi from "@pulumi/pulumi";
import type * as kit from "maloko/vitest";

export { currentCall, registerProvider, TypedProvider } from "maloko";
export { CommandError, LocalWorkspace } from "maloko/automation";
export { crashEverywhere, direct, expect, test } from "maloko/vitest";
export { Bucket, BucketProvider, FakeCloud } from "./src/bucket";
export { pulumi };

export type BucketInputs = any;
export type Inputs = any;
export type Outputs = any;
export type QueueArgs = any;
export type QueueInputs = any;
export type QueueOutputs = any;
export declare class Label extends pulumi.dynamic.Resource {
    constructor(name: string, args: any, opts?: pulumi.CustomResourceOptions);
    url: any;
}
export declare class Provider implements pulumi.dynamic.ResourceProvider {
    create(inputs: any): Promise<any>;
}
export declare class QueueClient {
    constructor(token: string);
    create(...inputs: any[]): Promise<any>;
}
export declare class QueueProvider extends Provider {
    constructor(connection?: any);
}
export declare class QuotaExceeded extends Error {}
export declare const cloud: any;
export declare const connect: any;
export declare const inputs: any;
export declare const make: any;
export declare const outs: any;
export declare const passphrase: string;
export declare const program: () => void;
export declare const queue: any;
export declare const s: ReturnType<kit.MalokoFixtures["stack"]>;
export declare const stack: any;
export declare const token: string;
export declare const user: any;
export declare const z: any;
