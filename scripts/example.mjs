/** npm run example NAME: installs, builds what is out of date, and runs examples/NAME. */
import { existsSync } from 'node:fs';
import { runInForeground } from './run.mjs';
import { buildExamples, install } from './set-up.mjs';

const [name = ''] = process.argv.slice(2);
if (!existsSync(`examples/${name}.ts`) && !existsSync(`examples/${name}/index.ts`)) {
  console.error(
    `There is no example '${name}'. Choose one from examples/README.md, such as: npm run example node-cron`,
  );
  process.exit(1);
}
await install();
await buildExamples();
runInForeground(`.build/legacy/examples/${name}`);
