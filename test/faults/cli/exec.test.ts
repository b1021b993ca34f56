import assert from 'node:assert/strict';
import { operations } from 'cronlatch/operations';
import { errorLines } from '../../cli/cronlatch';
import { IGNORES, testExec, testExecOn } from '../../cli/exec-bench';
import { BY } from '../../support/jobs/acts';

testExecOn(['postgres']);

testExec('if the lock is lost, the program gets SIGTERM, and the command ends with 1', async (bench) => {
  const call = bench.start(
    '--name',
    'nightly',
    '--at-most',
    '1500ms',
    '--',
    'sh',
    '-c',
    'echo started; exec sleep 30',
  );
  await call.printed('started');
  await operations(bench.guard).release({ lock: 'nightly' }, BY);
  const ended = await call.ended;
  assert.equal(ended.status, 1);
  assert.match(errorLines(ended)[0] ?? '', /^Lock 'nightly' was lost while its job was running: /);
});

testExec('a program that ignores SIGTERM after its lock was lost is killed', async (bench) => {
  const options = ['--name', 'nightly', '--at-most', '1500ms', '--kill-after', '100ms'];
  const call = bench.start(...options, '--', ...IGNORES);
  await call.printed('started');
  await operations(bench.guard).release({ lock: 'nightly' }, BY);
  assert.equal((await call.ended).status, 1);
  assert.match((await call.ended).stdout, /ignored/);
});
