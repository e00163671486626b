#!/usr/bin/env node
"use strict";
require("../dist/command-line/cli.js").main(process.argv.slice(2));
