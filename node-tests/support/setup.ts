import "./stacks";

// Plugins start slowly beside many others.
process.env.MALOKO_PLUGIN_START_SECONDS ??= "240";
