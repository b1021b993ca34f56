#!/usr/bin/env node
/**
 * The command line of the package, `npx cronlatch`. Each command has a file. It ends with 0 if it is done, with 1 if it
 * could not do it, and with 2 if it was called in a wrong way.
 */
import { Command } from 'commander';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { exitCodeOf, linesOf } from './failure';
import { addInitCommand } from './init';
import { addSqlCommand } from './sql';

function programOf(): Command {
  const program = new Command('cronlatch')
    .description('Creates the tables that cronlatch needs.')
    .version(version())
    .exitOverride()
    .configureOutput({ outputError: () => {} }); // Printed below, like every other error.
  addInitCommand(program);
  addSqlCommand(program);
  return program;
}

function version(): string {
  const manifest = readFileSync(join(__dirname, '../../package.json'), 'utf8');
  return (JSON.parse(manifest) as { readonly version: string }).version;
}

function fail(error: unknown): void {
  for (const line of linesOf(error)) process.stderr.write(`cronlatch: ${line}\n`);
  process.exitCode = exitCodeOf(error);
}

async function main(): Promise<void> {
  // A file of the application can leave a rejection behind.
  process.once('uncaughtException', (error) => {
    fail(error);
    process.exit();
  });
  await programOf().parseAsync().catch(fail);
}

if (require.main === module) void main();
