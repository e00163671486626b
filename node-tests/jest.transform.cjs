// TypeScript for jest: types are left out, modules become CommonJS ones.
const { transformSync } = require("esbuild");

module.exports = {
    process(source, file) {
        const options = { loader: "ts", format: "cjs", target: "node20", sourcefile: file, sourcemap: "inline" };
        return { code: transformSync(source, options).code };
    },
};
