/**
 * npm run contract: runs the contracts of locks and of the run store on every store, with real servers. With
 * `-- --list`: prints a table of all cases and of the capabilities of each store, without servers.
 */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { run } from './run.mjs';
import { buildLibrary, buildTests, install } from './set-up.mjs';

const args = process.argv.slice(2);
if (args.length === 0) await run(process.execPath, ['scripts/test.mjs', 'storage/contracts.']);
else if (args.length === 1 && args[0] === '--list') await list();
else {
  console.error(`npm run contract [-- --list], not ${args.join(' ')}`);
  process.exit(1);
}

async function list() {
  await install();
  await buildLibrary();
  await buildTests();
  const { lockProviderContract } = await load('dist/contracts/index.js');
  const { runStoreContract } = await load('.build/legacy/test/support/run-store-contract/index.js');
  const { CONTRACT_STORES, RUN_STORES, describeVariant } = await load(
    '.build/legacy/test/support/stores/variants.js',
  );
  print('a lock', lockProviderContract, CONTRACT_STORES, describeVariant);
  console.log();
  print('a store of runs', runStoreContract, RUN_STORES, describeVariant);
}

function print(subject, contractOf, contractStores, describeVariant) {
  const stores = Object.entries(contractStores);
  const contracts = stores.map(([, { lacks }]) => contractOf(neverCalled, { lacks }));
  const reasons = [...new Set(contracts.flat().flatMap(({ skip }) => skip ?? []))];
  const mark = ({ skip }) => (skip === undefined ? '✓' : `[${reasons.indexOf(skip) + 1}]`);

  const names = stores.map(([name]) => name);
  const row = (number, cells, text) =>
    [number.padStart(4), ...cells.map((cell, i) => cell.padStart(names[i].length + 1)), ` ${text}`].join(' ');
  console.log(row('', names, `promise of ${subject}`));
  const [first = []] = contracts;
  for (const [i, { name }] of first.entries()) {
    const cells = contracts.map((contract) => mark(contract[i]));
    console.log(row(String(i + 1), cells, name));
  }

  console.log();
  for (const [i, reason] of reasons.entries()) console.log(`[${i + 1}] ${reason}`);
  for (const [name, { variants }] of stores) {
    const described = variants.map(describeVariant).join('; ') || 'one instance';
    const can = contracts[names.indexOf(name)].filter(({ skip }) => skip === undefined).length;
    console.log(`${name}: ${can} of ${first.length} cases; runs with ${described}`);
  }
}

async function load(path) {
  return await import(pathToFileURL(resolve(path)).href);
}

function neverCalled() {
  throw new Error('Only the list was requested.');
}
