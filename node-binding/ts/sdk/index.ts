// The one folder that touches names of the Pulumi SDK which are not public, a file per seam. Each is guarded: what a new
// SDK version has moved is either reported (where results depend on it) or done without (where only speed does).

export { CallbackFailed, callByToken } from "./callbacks";
export { giveHandles, looksLikeProvider, serializeProvider } from "./closures";
export { type Maker, makersOf, quietFailures, takeDeclaredOutputs, whenMade } from "./declared";
export { withConfigVariable } from "./environment";
export { setInsideCall, waitingFor } from "./get";
export { NEWEST_SDK, pendingRegistrations, type RunSettings, Sdk, sdkVersionOf } from "./sdk";
export { currentStore, outside, type Store } from "./store";
export { whenCircular } from "./waits";
