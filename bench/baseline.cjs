// A program in the SDK alone, without maloko: baseline.cjs FOLDER mocks|null.
//
// `mocks` is what the SDK has for tests. `null` is the null engine: a monitor in this process that answers at once. Node's
// collector gets no help here, since a run of maloko gives it none.
const path = require("node:path");
const { createRequire } = require("node:module");

const folder = path.resolve(process.argv[2]);
const from = createRequire(path.join(folder, "package.json"));

// The serialiser and what it needs (TypeScript) are not even loaded: the baseline is the cheaper for it.
const inside = createRequire(from.resolve("@pulumi/pulumi"));
for (const name of ["./runtime/closure/serializeClosure", "./runtime/closure/codePaths"]) {
    const id = inside.resolve(name);
    const exports = { serializeFunction: async () => ({ text: "provider" }), computeCodePaths: async () => new Map() };
    require.cache[id] = { id, filename: id, loaded: true, exports, children: [], paths: [] };
}

const pulumi = from("@pulumi/pulumi");

const mocks = {
    newResource: ({ name, inputs }) => ({ id: `id-${name}`, state: inputs }),
    call: ({ token }) => {
        throw new Error(`the program calls ${token}`);
    },
};

/**
 * Stands for the client of the engine's monitor. It keeps nothing, so that what remains is the SDK. Its methods are those
 * that the bench's programs need.
 */
function nullMonitor() {
    const messages = inside("./proto/resource_pb");
    const { Empty } = inside("google-protobuf/google/protobuf/empty_pb");
    return {
        registerResource(request, callback) {
            let type = request.getType();
            if (request.getParent()) {
                // As in the engine's URNs: the types of all parents, without the stack's.
                const parent = request.getParent().split("::", 3)[2];
                type = parent === "pulumi:pulumi:Stack" ? type : `${parent}$${type}`;
            }
            const response = new messages.RegisterResourceResponse();
            response.setUrn(`urn:pulumi:dev::bench::${type}::${request.getName()}`);
            response.setId(request.getCustom() ? `id-${request.getName()}` : "");
            response.setObject(request.getObject());
            callback(null, response);
        },
        registerResourceOutputs(_request, callback) {
            callback(null, new Empty());
        },
        getDeploymentInfo(_request, callback) {
            const response = new messages.DeploymentInfo();
            response.setSupportedfeaturesList(Object.values(messages.ResourceMonitorFeature));
            callback(null, response);
        },
        // SDKs before `getDeploymentInfo` ask for each feature.
        supportsFeature(_request, callback) {
            const response = new messages.SupportsFeatureResponse();
            response.setHassupport(true);
            callback(null, response);
        },
        invoke(request, callback) {
            const response = new messages.ResourceInvokeResponse();
            response.setReturn(request.getArgs());
            callback(null, response);
        },
        signalAndWaitForShutdown(_request, callback) {
            callback(null, new Empty());
        },
        close() {},
    };
}

async function main() {
    if (process.argv[3] === "mocks") {
        pulumi.runtime.setMocks(mocks, "bench", "dev");
    } else {
        const settings = inside("./runtime/settings");
        settings.setMockOptions(nullMonitor(), "bench", "dev", false, "organization");
        await settings.awaitFeatureSupport();
    }
    await inside("./runtime/stack").runInPulumiStack(async () => from(folder));
    await pulumi.runtime.disconnect();
}

main().catch((error) => {
    console.error(error);
    process.exit(1);
});
