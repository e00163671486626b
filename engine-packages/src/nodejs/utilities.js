// What the classes and functions of this package have in common.

const pulumi = require("@pulumi/pulumi");

const { runtime } = pulumi;

const BASES = {
    custom: pulumi.CustomResource,
    component: pulumi.ComponentResource,
    provider: pulumi.ProviderResource,
};

exports.getEnv = (...variables) => {
    const found = variables.find(variable => process.env[variable]);
    return found === undefined ? undefined : process.env[found];
};

exports.getEnvBoolean = (...variables) => {
    const text = exports.getEnv(...variables);
    if (["1", "t", "T", "true", "TRUE", "True"].includes(text)) {
        return true;
    }
    return ["0", "f", "F", "false", "FALSE", "False"].includes(text) ? false : undefined;
};

exports.getEnvNumber = (...variables) => {
    const number = Number.parseFloat(exports.getEnv(...variables));
    return Number.isNaN(number) ? undefined : number;
};

exports.getVersion = () => VERSION || "0.0.0";

exports.resourceOptsDefaults = () => ({
    ...(VERSION && { version: VERSION }),
    ...(DOWNLOAD_URL && { pluginDownloadURL: DOWNLOAD_URL }),
});

exports.lazyLoad = (target, names, load) => {
    for (const name of names) {
        Object.defineProperty(target, name, { enumerable: true, get: () => load()[name] });
    }
};

// The plugin becomes this package by a parameter, which the engine is told once.
let registered;
const registerOnce = () => {
    const messages = require("@pulumi/pulumi/proto/resource_pb");
    const parameter = new messages.Parameterization();
    parameter.setName(PARAMETER.packageName);
    parameter.setVersion(PARAMETER.packageVersion);
    parameter.setValue(PARAMETER.base64Parameter);
    const request = new messages.RegisterPackageRequest();
    request.setName(PARAMETER.baseProviderName);
    request.setVersion(PARAMETER.baseProviderVersion);
    request.setDownloadUrl(PARAMETER.baseProviderDownloadUrl);
    request.setParameterization(parameter);
    return new Promise((resolve, reject) => {
        runtime.getMonitor().registerPackage(request, (error, answer) => (error ? reject(error) : resolve(answer.getRef())));
    });
};

if (PARAMETER) {
    // Versions of the SDK before 3.238 leave it to packages.
    exports.getPackage = async () =>
        runtime.registerPackage ? runtime.registerPackage(PARAMETER) : (registered ??= registerOnce());
}

const reference = () => (PARAMETER ? [exports.getPackage()] : []);

exports.callAsync = async (token, inputs, self, options) => {
    const output = runtime.call(token, inputs, self, ...reference());
    const value = await output.promise(true);
    const isKnown = await output.isKnown;
    if (!isKnown || (await output.isSecret)) {
        throw new Error(
            `Plain resource method "${token}" incorrectly returned ${isKnown ? "a secret value" : "an unknown value"}. ` +
                "This is an error in the provider, please report this to the provider developer.",
        );
    }
    return options?.property ? value[options.property] : value;
};

// Fills in the defaults of an object that may be an output.
exports.filled = (value, fill) =>
    value === undefined
        ? undefined
        : pulumi.output(value).apply(known => (known === undefined ? undefined : fill(known)));

exports.filledAlways = (value, fill) => pulumi.output(value).apply(fill);

exports.filledPlain = (value, fill) => (value ? fill(value) : undefined);

exports.secret = (value, of = known => known) => (value ? pulumi.secret(of(value)) : undefined);

// Providers are given texts alone.
exports.json = value => pulumi.output(value).apply(JSON.stringify);

const warn = (name, reason) => {
    if (reason) {
        pulumi.log.warn(`${name} is deprecated: ${reason}`);
    }
};

const inputsOf = (about, args, opts) => {
    const found = {};
    const missing = about.required?.find(name => args?.[name] === undefined);
    if (missing !== undefined && !opts.urn) {
        throw new Error(`Missing required property '${missing}'`);
    }
    for (const name of about.inputs) {
        const make = about.values?.[name];
        found[name] = make ? make(args) : args?.[name];
    }
    for (const name of about.outputs ?? []) {
        found[name] = undefined;
    }
    return found;
};

// One that is looked up by its id has what the state says, and the rest from the provider.
const stateOf = (about, state) => {
    const names = about.inputs.filter(name => !about.onlyInputs?.includes(name)).concat(about.outputs ?? []);
    const found = Object.fromEntries(names.map(name => [name, undefined]));
    for (const name of about.state ?? []) {
        found[name] = state?.[name];
    }
    return found;
};

// As methods of a class are: not among the keys.
const define = (target, values) => {
    for (const [name, value] of Object.entries(values)) {
        Object.defineProperty(target, name, { value, configurable: true, writable: true });
    }
};

exports.resource = (kind, name, type, about) => {
    const isProvider = kind === "provider";
    const made = {
        [name]: class extends BASES[kind] {
            static __pulumiType = type;

            static isInstance(value) {
                return value?.__pulumiType === (isProvider ? `pulumi:providers:${type}` : type);
            }

            constructor(resourceName, args, opts) {
                warn(name, about.deprecated);
                const given = opts || {};
                const isLookup = !isProvider && given.id;
                const inputs = isLookup ? stateOf(about, args) : inputsOf(about, args, given);
                let merged = pulumi.mergeOptions(exports.resourceOptsDefaults(), given);
                for (const more of about.options ?? []) {
                    merged = pulumi.mergeOptions(merged, more);
                }
                const rest = kind === "component" ? [true] : PARAMETER ? [false] : [];
                super(type, resourceName, inputs, merged, ...rest, ...reference());
            }
        },
    }[name];
    if (kind === "custom") {
        const get = (resourceName, id, ...rest) => {
            warn(name, about.deprecated);
            const [state, opts] = about.state ? rest : [undefined, rest[0]];
            return new made(resourceName, state, { ...opts, id });
        };
        const exists = (id, ...rest) => {
            if (!runtime.existsResource) {
                throw new Error(`${name}.exists needs a newer version of @pulumi/pulumi`);
            }
            const [state, opts] = about.state ? rest : [undefined, rest[0]];
            return runtime.existsResource(type, id, state || {}, { ...opts }, ...reference());
        };
        define(made, { get, exists });
    }
    for (const [method, told] of Object.entries(about.methods ?? {})) {
        define(made.prototype, { [method]: methodOf(`${name}.${method}`, told) });
    }
    return made;
};

const methodOf = (name, told) =>
    function (args) {
        warn(name, told.deprecated);
        const given = told.isOptional ? args || {} : args;
        const inputs = { __self__: this };
        for (const input of told.inputs ?? []) {
            inputs[input] = given[input];
        }
        if (told.isPlain) {
            return exports.callAsync(told.token, inputs, this, { property: told.property });
        }
        const result = runtime.call(told.token, inputs, this, ...reference());
        if (told.isVoid) {
            return undefined;
        }
        return told.lifted ? result[told.lifted] : result;
    };

// A function in its two forms: one gives a promise, the other takes and gives outputs.
exports.invoke = (target, name, token, about) => {
    const names = about.inputs ?? [];
    const call = (how, fill, hasArgs) =>
        (...given) => {
            warn(name, about.deprecated);
            const inputs = {};
            const args = about.isOptional ? given[0] || {} : given[0];
            names.forEach((input, at) => {
                const value = about.isPositional ? given[at] : args[input];
                const filled = about.filled?.[input];
                inputs[input] = (filled ? fill(value, filled) : value) ?? about.defaults?.[input]?.();
            });
            const opts = given[about.isPositional ? names.length : Number(hasArgs)] || {};
            const merged = pulumi.mergeOptions(exports.resourceOptsDefaults(), opts);
            return runtime[how](token, inputs, merged, ...reference());
        };
    const how = about.isSingle ? "invokeSingle" : "invoke";
    if (!about.isOnlyOutput) {
        target[name] = call(how, exports.filledPlain, about.inputs !== undefined);
    }
    if (!about.isVoid || about.isOnlyOutput) {
        target[`${name}Output`] = call(`${how}Output`, exports.filled, names.length > 0);
    }
};
