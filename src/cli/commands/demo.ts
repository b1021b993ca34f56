import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Command } from 'commander';
import { CronlatchError } from '../../core';
import { refuseCrashingDriver } from '../../storage/better-sqlite3/installed-driver';
import { io } from '../terminal';

const PACKAGES = ['node-cron', 'better-sqlite3'];

interface Demo {
  demo(options: { guarded: boolean }): Promise<number>;
}

/** `cronlatch demo`: four processes share a job, and two of them are killed. */
export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description('watch four processes share a job for 15 seconds, on SQLite')
    .option('--without-lock', 'the same job without cronlatch')
    .action(async ({ withoutLock = false }: { withoutLock?: boolean }) => {
      io.exitCode = await loaded().demo({ guarded: !withoutLock });
    });
}

function loaded(): Demo {
  const load = createRequire(__filename);
  const missing = PACKAGES.filter((name) => !isInstalled(load, name));
  if (missing.length > 0)
    throw new CronlatchError(
      `cronlatch demo needs ${missing.join(' and ')}: npm install ${missing.join(' ')}`,
    );
  refuseCrashingDriver();
  return load(join(__dirname, '../../demo/main.js')) as Demo;
}

function isInstalled(load: NodeJS.Require, name: string): boolean {
  try {
    load.resolve(name);
    return true;
  } catch {
    return false;
  }
}
