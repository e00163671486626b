module.exports = { testMatch: ["**/kit-samples/*.sample.cjs"], rootDir: "..", testTimeout: 10_000 };
