module.exports = { testMatch: ["**/kit-samples/pages.jest.cjs"], rootDir: "..", testTimeout: 30_000 };
