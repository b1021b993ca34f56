import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { parseSettings } from '../../bench/settings';

void suite('the arguments of the bench', () => {
  void test('without any, every server is measured in forty rounds, but not what takes minutes to fill', () => {
    const { servers, parts, slices, sliceMs, json, report, beside } = parseSettings([]);
    assert.ok(servers.includes('mysql') && servers.includes('sqlite'));
    assert.ok(parts.includes('locks') && !parts.includes('purge'));
    assert.deepEqual({ slices, sliceMs, json, report, beside }, { slices: 40, sliceMs: 250, ...NONE });
  });

  void test('servers and parts are named in any order', () => {
    const { parts, servers } = parseSettings(['postgres', 'purge', 'mysql', '--only', 'locks']);
    assert.deepEqual(
      [parts, servers],
      [
        ['locks', 'purge'],
        ['mysql', 'postgres'],
      ],
    );
  });

  void test('the number and length of slices replace those of a quick run', () => {
    const { slices, sliceMs, processes } = parseSettings(['--quick', '--slice-ms=200', '--processes', '3']);
    assert.ok(slices < 40);
    assert.equal(processes, 3);
    assert.equal(sliceMs, 200);
  });

  void test('a purge finds as many runs as you set, and a torture has the row that you name', () => {
    const { parts, rows, row } = parseSettings([
      '--only',
      'purge',
      'torture',
      '--rows',
      '5000',
      '--row',
      '3',
    ]);
    assert.deepEqual([parts, rows, row], [['purge', 'torture'], 5000, 3]);
  });

  void test('a report, JSON and a command beside it can be set', () => {
    const { json, report, beside } = parseSettings([
      '--json',
      '--report',
      'x/y.md',
      '--beside',
      'java -jar b.jar',
    ]);
    assert.deepEqual({ json, report, beside }, { json: true, report: 'x/y.md', beside: 'java -jar b.jar' });
  });

  for (const [args, said] of [
    [['sqlserver'], /'sqlserver' is neither a part of the bench nor a server/],
    [['toString'], /'toString' is neither/],
    [['redis', 'sqlite', 'start'], /There is no part 'start' for sqlite or redis/],
    [['--slices', '0'], /--slices is '0'/],
    [['--slice-ms', '1s'], /--slice-ms is '1s'/],
    [['--rounds', '3'], /--rounds/],
    [['--only', 'runs'], /--only is 'runs'/],
    [['--row', '7'], /--row is '7': use 1 to 6/],
    [['--row', '1.5'], /--row is '1.5'/],
    [['--rows', '0'], /--rows is '0'/],
    [['--report', 'report.txt'], /--report is 'report.txt'/],
    [['--report', '.md'], /--report is '.md'/],
    [['--beside', ' '], /--beside is empty/],
  ] as const) {
    void test(`${args.join(' ')} is refused`, () => assert.throws(() => parseSettings([...args]), said));
  }
});

const NONE = { json: false, report: undefined, beside: undefined };
