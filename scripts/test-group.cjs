/** Runs compiled test files in one process. */
const { resolve } = require('node:path');
const { describe } = require('node:test');

// A suite of its own keeps the hooks of a file away from the others.
for (const file of process.argv.slice(2)) describe(file, () => void require(resolve(file)));
