import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { closing } from '../../../support/benches/closing';
import { OwnServerBench } from '../../../support/benches/own-server';
import { SERVER_NAMES, reportLack, testOnOwn } from '../../../support/databases/fresh';
import { lockRows } from '../../../support/databases/lock-table';
import { canMountDisks, onSmallDisk, type SmallDisk } from '../../../support/faults/small-disk';
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
