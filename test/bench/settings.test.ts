import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { parseSettings } from '../../bench/settings';

void suite('the arguments of the bench', () => {
  void test('without any, every server is measured in forty rounds, and none must be there', () => {
    const { servers, ...rest } = parseSettings([]);
    assert.ok(servers.includes('mysql'));
    assert.deepEqual(rest, { part: 'locks', rows: 1_000_000, required: [], slices: 40, sliceMs: 250 });
  });

  void test('a server that is named must be there', () => {
    assert.deepEqual(parseSettings(['mysql', '--slices', '5', '--slice-ms=200']), {
      part: 'locks',
      rows: 1_000_000,
      servers: ['mysql'],
      required: ['mysql'],
      slices: 5,
      sliceMs: 200,
    });
  });

  void test('a purge is measured alone, of as many runs as are asked for', () => {
    const { part, rows } = parseSettings(['--only', 'purge', '--rows', '5000']);
    assert.deepEqual([part, rows], ['purge', 5000]);
  });

  for (const [args, said] of [
    [['sqlserver'], /does not support server 'sqlserver'/],
    [['toString'], /does not support server 'toString'/],
    [['--slices', '0'], /--slices is '0'/],
    [['--slice-ms', '1s'], /--slice-ms is '1s'/],
    [['--rounds', '3'], /--rounds/],
    [['--only', 'runs'], /--only is 'runs'/],
    [['--rows', '0'], /--rows is '0'/],
  ] as const) {
    void test(`${args.join(' ')} is refused`, () => assert.throws(() => parseSettings([...args]), said));
  }
});
