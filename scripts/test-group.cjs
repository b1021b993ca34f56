/** Runs compiled test files in one process. */
const { resolve } = require('node:path');

for (const file of process.argv.slice(2)) require(resolve(file));
