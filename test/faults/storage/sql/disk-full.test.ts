import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { closing } from '../../../support/benches/closing';
import { OwnServerBench } from '../../../support/benches/own-server';
import { SERVER_NAMES, reportLack, testOnOwn } from '../../../support/databases/fresh';
import { lockRows } from '../../../support/databases/lock-table';
import { LockLoad } from '../../../support/jobs/lock-load';

const INSTANCES = 2;
const GRANTS = 25;
const LIMIT_MS = 60_000;
const OPTIONS = { statementTimeout: '2s' } as const;

async function fillUnderLoad(bench: OwnServerBench, disk: SmallDisk): Promise<void> {
  const { server, application } = bench;
  const instances = Array.from({ length: INSTANCES }, () => bench.provider(OPTIONS, application));
  const load = new LockLoad(instances);
  try {
    await load.granted(GRANTS);
    await fillUntilOneFails(disk, load);
    disk.empty();
    // With a full disk the server may have stopped, or wait a minute before it checks for space again.
    await server.kill();
    await server.restart();
    await load.granted(GRANTS);
    await load.end();
    load.agreesWith(await lockRows(application));
  } finally {
    disk.empty();
    await load.end();
  }
}

async function fillUntilOneFails(disk: SmallDisk, load: LockLoad): Promise<void> {
  const givenUpAtMs = performance.now() + LIMIT_MS;
  let isOver = false;
  const failed = load.failed().finally(() => (isOver = true));
  failed.catch(() => {}); // Awaited below.
  while (!isOver) {
    assert.ok(performance.now() < givenUpAtMs, 'the full disk should have caused an error');
    disk.fill();
    await setTimeout(50);
  }
  await failed;
}

const SIZE = '320m';

/** A disk that a test can fill without harm to others. */
class SmallDisk {
  private constructor(readonly folder: string) {}

  /** @returns `undefined` if this user may not mount one */
  static mounted(): SmallDisk | undefined {
    const folder = mkdtempSync(join(tmpdir(), 'cronlatch-disk-'));
    const options = ['-t', 'tmpfs', '-o', `size=${SIZE},mode=1777`, 'tmpfs', folder];
    if (spawnSync('mount', options).status === 0) return new SmallDisk(folder);
    rmdirSync(folder);
    return undefined;
  }

  /** Fills it to the last byte; call it again when space was freed. */
  fill(): void {
    const file = openSync(this.#filler, 'a');
    try {
      for (let bytes = 1 << 20; bytes >= 512; bytes /= 2) {
        const piece = Buffer.alloc(bytes);
        while (this.#takes(file, piece));
      }
    } finally {
      closeSync(file);
    }
  }

  /** Frees some of the filled space. */
  empty(): void {
    rmSync(this.#filler, { force: true });
  }

  unmount(): void {
    spawnSync('umount', [this.folder]);
    rmdirSync(this.folder);
  }

  get #filler(): string {
    return join(this.folder, 'filler');
  }

  #takes(file: number, piece: Buffer): boolean {
    try {
      return writeSync(file, piece) === piece.length;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return false;
      throw error;
    }
  }
}

/** Private servers that start meanwhile keep their data there. */
async function onSmallDisk(body: (disk: SmallDisk) => Promise<void>): Promise<void> {
  const disk = SmallDisk.mounted();
  assert.ok(disk);
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = disk.folder;
  try {
    await body(disk);
  } finally {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
    disk.unmount();
  }
}

/** Whether this user may mount one. */
function canMountDisks(): boolean {
  const disk = SmallDisk.mounted();
  disk?.unmount();
  return disk !== undefined;
}

if (process.env['CRONLATCH_FULL'] !== '1') {
  reportLack('servers', 'only npm run test:full fills a disk');
} else if (canMountDisks()) {
  for (const name of SERVER_NAMES) {
    testOnOwn(
      name,
      'on a full disk no instance is granted a lock that is not stored, and locks work again when there is space (F-51)',
      () =>
        onSmallDisk(async (disk) => {
          await using bench = closing(await OwnServerBench.on(name));
          await fillUnderLoad(bench, disk);
        }),
    );
  }
} else {
  reportLack('servers', 'this user may not mount a small disk, which could be filled');
}
