/** npm run package: packs the library, and tries it in every kind of project with every version of Node and TypeScript. */
import { run } from './run.mjs';
import { buildLibrary, buildTests, install } from './set-up.mjs';

await install();
await buildLibrary();
await buildTests();
await run(process.execPath, ['.build/legacy/test/package/matrix/main.js']);
