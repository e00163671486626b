// What the classes and functions of this package have in common.

const pulumi = require("@pulumi/pulumi");

const { runtime } = pulumi;

Object.assign(exports, { getEnv, getEnvBoolean, getEnvNumber, getVersion, resourceOptsDefaults, lazyLoad, callAsync });
Object.assign(exports, { filled, filledAlways, filledPlain, secret, json, resource });

function getEnv(...variables) {
    const found = variables.find(variable => process.env[variable]);
    return found === undefined ? undefined : process.env[found];
}

function getEnvBoolean(...variables) {
    const text = getEnv(...variables);
    if (["1", "t", "T", "true", "TRUE", "True"].includes(text)) {
        return true;
    }
    return ["0", "f", "F", "false", "FALSE", "False"].includes(text) ? false : undefined;
}

function getEnvNumber(...variables) {
    const number = Number.parseFloat(getEnv(...variables));
    return Number.isNaN(number) ? undefined : number;
}

function getVersion() {
    return VERSION || "0.0.0";
}

function resourceOptsDefaults() {
    return { ...(VERSION && { version: VERSION }), ...(DOWNLOAD_URL && { pluginDownloadURL: DOWNLOAD_URL }) };
}

function lazyLoad(target, names, load) {
    for (const name of names) {
        Object.defineProperty(target, name, { enumerable: true, get: () => load()[name] });
    }
}

async function callAsync(token, inputs, self, options) {
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
}

//#if parameter
// The plugin becomes this package by a parameter, which the engine is told once.
exports.getPackage = getPackage;

async function getPackage() {
    // Versions of the SDK before 3.238 leave it to packages.
    return runtime.registerPackage ? runtime.registerPackage(PARAMETER) : (registered ??= registerOnce());
}

let registered;

function registerOnce() {
    const monitor = runtime.getMonitor();
    if (!monitor?.registerPackage) {
        return undefined;
    }
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
        monitor.registerPackage(request, (error, answer) => (error ? reject(error) : resolve(answer.getRef())));
    });
}

function reference() {
    return [getPackage()];
}
//#else
function reference() {
    return [];
}
//#end

// Fills in the defaults of an object that may be an output.
function filled(value, fill) {
    const known = inner => (inner === undefined ? undefined : fill(inner));
    return value === undefined ? undefined : pulumi.output(value).apply(known);
}

function filledAlways(value, fill) {
    return pulumi.output(value).apply(fill);
}

function filledPlain(value, fill) {
    return value ? fill(value) : undefined;
}

function secret(value, of) {
    return value ? pulumi.secret(of ? of(value) : value) : undefined;
}

// Providers are given texts alone.
function json(value) {
    return pulumi.output(value).apply(JSON.stringify);
}

function warn(name, reason) {
    if (reason) {
        pulumi.log.warn(`${name} is deprecated: ${reason}`);
    }
}

function inputsOf(about, args, opts) {
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
}

// One that is looked up by its id has what the state says, and the rest from the provider.
function stateOf(about, state) {
    const names = about.inputs.filter(name => !about.onlyInputs?.includes(name)).concat(about.outputs ?? []);
    const found = Object.fromEntries(names.map(name => [name, undefined]));
    for (const name of about.state ?? []) {
        found[name] = state?.[name];
    }
    return found;
}

// As methods of a class are: not among the keys.
function define(target, values) {
    for (const [name, value] of Object.entries(values)) {
        Object.defineProperty(target, name, { value, configurable: true, writable: true });
    }
}

// `base`: the name of a class of the Pulumi SDK.
function resource(base, name, type, about) {
    const isProvider = base === "ProviderResource";
    const isComponent = base === "ComponentResource";
    const Made = {
        [name]: class extends pulumi[base] {
            static __pulumiType = type;

            static isInstance(value) {
                return value?.__pulumiType === (isProvider ? `pulumi:providers:${type}` : type);
            }

            constructor(resourceName, args, opts) {
                warn(name, about.deprecated);
                const given = opts || {};
                const isLookup = !isProvider && given.id;
                const inputs = isLookup ? stateOf(about, args) : inputsOf(about, args, given);
                let merged = pulumi.mergeOptions(resourceOptsDefaults(), given);
                for (const more of about.options ?? []) {
                    merged = pulumi.mergeOptions(merged, more);
                }
                // A component is remote; nothing here stands for a dependency.
                super(type, resourceName, inputs, merged, isComponent, ...reference());
            }
        },
    }[name];
    if (!isProvider && !isComponent) {
        define(Made, lookups(Made, name, type, about));
    }
//#if methods
    for (const [method, told] of Object.entries(about.methods ?? {})) {
        define(Made.prototype, { [method]: methodOf(`${name}.${method}`, told) });
    }
//#end
    return Made;
}

function lookups(Made, name, type, about) {
    return {
        get(resourceName, id, ...rest) {
            warn(name, about.deprecated);
            const [state, opts] = about.state ? rest : [undefined, rest[0]];
            return new Made(resourceName, state, { ...opts, id });
        },
        exists(id, ...rest) {
            if (!runtime.existsResource) {
                throw new Error(`${name}.exists needs a newer version of @pulumi/pulumi`);
            }
            const [state, opts] = about.state ? rest : [undefined, rest[0]];
            return runtime.existsResource(type, id, state || {}, { ...opts }, ...reference());
        },
    };
}
//#if methods

function methodOf(name, told) {
    return function (args) {
        warn(name, told.deprecated);
        const given = told.isOptional ? args || {} : args;
        const inputs = { __self__: this };
        for (const input of told.inputs ?? []) {
            inputs[input] = given[input];
        }
        if (told.isPlain) {
            return callAsync(told.token, inputs, this, { property: told.property });
        }
        const result = runtime.call(told.token, inputs, this, ...reference());
        if (told.isVoid) {
            return undefined;
        }
        return told.lifted ? result[told.lifted] : result;
    };
}
//#end
//#if functions

exports.invoke = invoke;

// A function in its two forms: one gives a promise, the other takes and gives outputs.
function invoke(target, name, token, about) {
    const names = about.inputs ?? [];
    const call = (how, fill, hasArgs) =>
        (...given) => {
            warn(name, about.deprecated);
            const inputs = {};
            const args = about.isOptional ? given[0] || {} : given[0];
            names.forEach((input, at) => {
                const value = about.isPositional ? given[at] : args[input];
                const defaults = about.filled?.[input];
                inputs[input] = (defaults ? fill(value, defaults) : value) ?? about.defaults?.[input]?.();
            });
            const opts = given[about.isPositional ? names.length : Number(hasArgs)] || {};
            const merged = pulumi.mergeOptions(resourceOptsDefaults(), opts);
            return runtime[how](token, inputs, merged, ...reference());
        };
    const how = about.isSingle ? "invokeSingle" : "invoke";
    if (!about.isOnlyOutput) {
        target[name] = call(how, filledPlain, about.inputs !== undefined);
    }
    if (!about.isVoid || about.isOnlyOutput) {
        target[`${name}Output`] = call(`${how}Output`, filled, names.length > 0);
    }
}
//#end
