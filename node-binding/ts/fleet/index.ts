// Fleets: thousands of stacks on many machines, by way of a Temporal server of your own.
//
//     import * as fleet from "maloko/fleet";
//
//     const run = await fleet.load("fleet.yaml").up({ select: "tenant=a*" });
//     for await (const end of run.ends()) {
//         console.log(end.stack, end.outcome, end.changes);
//     }
//     (await run.result()).throwForFailures();
//
// It needs packages of Temporal, which are loaded when they are used; `deployOne`, the step for other engines, needs none of them.
// `maloko help fleets` has the guide.
import { Sdk } from "../sdk";

export { type DeployOptions, deployOne, type Verb } from "./deploy";
export { End, FleetError } from "./ends";
export { Fleet, type FleetSettings, load, type PlanOptions, type Stack, type StartOptions } from "./plan";
export { Progress, type StackProgress } from "./progress";
export { attach, Result, Run } from "./run";
export type { Counts, Engine, Limits, Outcome, Plan, Retry, Schedule, Secret, StackSpec, Wave } from "./wire";
export { Worker, type WorkerOptions } from "./worker";

// A program imports this module and the SDK: the earlier one wins.
Sdk.prepare(process.cwd());
