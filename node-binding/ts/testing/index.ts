// The testing kit without a test runner: what `maloko/vitest` and `maloko/jest` have in common.
import { Sdk } from "../sdk";

export {
    type CrashCase,
    type CrashFixtures,
    type CrashFunction,
    type CrashOptions,
    CrashTest,
    readCases,
    withKit,
    writeCases,
} from "./crash";
export { type Direct, direct, type ProviderLike } from "./direct";
export { Kit, type TestInfo } from "./kit";
export {
    type ArbitraryLike,
    type BaselineResource,
    checkLaws,
    LAW_NAMES,
    LAWS,
    LawBroken,
    type LawName,
    type LawOptions,
    LawSuite,
    type LawVerdict,
    Plugin,
    PluginFailed,
    type PluginOptions,
    type ProviderSource,
    type Samples,
    testTitle,
    titleOf,
    type WorldSource,
} from "./laws";
export {
    checkLifecycle,
    type LifecycleOptions,
    type LifecycleReport,
    lifecycleCommands,
    type Moment,
    RULES,
    type Rule,
    runLifecycle,
    type Step,
} from "./lifecycle";
export { type MalokoMatchers, matchers } from "./matchers";
export { Cassette, type CassetteOptions, type RecordMode } from "./recorded/cassettes";
export { type ExportedResources, exportedInputs } from "./recorded/exported";
export { type LoggedCall, replay, saveCall } from "./recorded/replay";
export { forSnapshots, normalized, type SnapshotSerializer, snapshotSerializer } from "./serializers";
export { type Call, Calls } from "./stack/calls";
export { type Failure, type FailureExpectation, fails, failureOf } from "./stack/failures";
export type { PackageStub, StubObject } from "./stack/packages";
export {
    type Action,
    type Change,
    type ExpectedPlan,
    type ExpectedStep,
    type Plan,
    type Planned,
    planText,
} from "./stack/plan";
export { CRASH_KINDS, type CrashKind, type CrashPlan } from "./stack/points";
export type { PolicyOrFolder, Remediation, Violation } from "./stack/policies";
export * from "./stack/settings";
export { TestStack } from "./stack/stack";
export type { Behaviour, CallPattern, Stub } from "./stack/stubs";
export type { Inputs, Program, Subject } from "./stack/subject";
export { ANY, type AsymmetricMatcher, Capture, capture, matches } from "./values";
export { orphansOf, type World } from "./worlds";

// A test file imports this and the SDK: the earlier one wins.
Sdk.prepare(process.cwd());
