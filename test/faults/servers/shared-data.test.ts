import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ownServer, type OwnServer } from '../../support/servers/own';
import { testOnOwn } from '../../support/servers/test-on';

testOnOwn('postgres', 'servers that start at once share new data in a folder that is missing', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'cronlatch-'));
  const folder = join(parent, 'missing');
  const before = process.env['CRONLATCH_SERVER_DATA'];
  process.env['CRONLATCH_SERVER_DATA'] = folder;
  const starts: Promise<OwnServer>[] = [];
  try {
    starts.push(ownServer('postgres'), ownServer('postgres'));
    const servers = await Promise.all(starts);
    assert.deepEqual(readdirSync(folder), [`postgres-${servers[0]?.version ?? ''}`]);
  } finally {
    if (before === undefined) delete process.env['CRONLATCH_SERVER_DATA'];
    else process.env['CRONLATCH_SERVER_DATA'] = before;
    const settled = await Promise.allSettled(starts);
    for (const each of settled) if (each.status === 'fulfilled') await each.value.stop();
    rmSync(parent, { recursive: true });
  }
});
