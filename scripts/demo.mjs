/** npm run demo [-- --without-lock]: installs, builds what is out of date, and runs examples/demo. */
import { spawn } from 'node:child_process';
import { buildExamples, install } from './set-up.mjs';

await install();
await buildExamples();

const demo = spawn(process.execPath, ['.build/legacy/examples/demo/main.js', ...process.argv.slice(2)], {
  stdio: 'inherit',
});
// The demo ends its workers and takes its files away; until then this process waits. Ctrl-C reaches it anyway.
process.on('SIGINT', () => {});
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => demo.kill(signal));
demo.on('exit', (code) => process.exit(code ?? 1));
