module.exports = { testMatch: ["**/kit-samples/laws.cjs"], rootDir: "..", testTimeout: 30_000 };
