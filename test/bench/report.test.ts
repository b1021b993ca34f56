import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { parseRate } from '../../bench/contest/beside';
import { endOf, jsonOf, type Outcome } from '../../bench/report/outcome';
import { plotOf } from '../../bench/report/plot';
import { markdownOf, textOf, type Row, type Table } from '../../bench/report/table';
import { pageOf } from '../../bench/report/write-report';

const table = (...rows: Row[]): Table => ({
  id: 'mysql/pairs/1',
  title: 'mysql: pairs',
  columns: [
    { key: 'perSecond', label: 'per second', kind: 'rate' },
    { key: 'ratio', label: 'ratio', kind: 'ratio' },
    { key: 'verdict', label: '', kind: 'text' },
  ],
  rows,
  notes: ['a note'],
});
const baseline: Row = { name: 'driver alone', isBaseline: true, values: { perSecond: 1000.4, ratio: 1 } };
const library: Row = {
  name: 'library',
  values: { perSecond: 900, ratio: 0.8999, lowerQuartile: 0.8, upperQuartile: 1, verdict: 'unsettled' },
};
const settled: Row = { ...library, values: { ...library.values, verdict: 'reached' } };
const outcome: Outcome = {
  surroundings: {
    ...{ date: '2026-11-23', node: '20.20.2', packages: { pg: '8.23.1' }, processor: '2 × AMD', load: 0.5 },
    servers: [{ name: 'mysql', version: '9.7.4', origin: 'binary', durability: 'flush = 1' }],
  },
  tables: [table(baseline, library)],
  missing: [{ name: 'postgres', reasons: ['no binary', 'no docker'] }],
};

void suite('the report of the bench', () => {
  void test('a table has a line for each row, and an empty cell for what was not measured', () => {
    assert.deepEqual(
      textOf(table(baseline, { name: 'beside', values: { verdict: 'not measured' } })).split('\n'),
      [
        'mysql: pairs',
        '              per second  ratio',
        'driver alone      1000/s  1.000',
        'beside                           not measured',
        'a note',
      ],
    );
  });

  void test('an unsettled row cannot be overlooked', () => {
    assert.match(textOf(table(baseline, library)), /0\.899 {2}UNSETTLED: the machine is busy/);
  });

  void test('a page has the same cells, and a bar in a name does not end its cell', () => {
    const page = markdownOf(table({ ...library, name: 'a | b' }));
    assert.match(page, /^\| a \\\| b \| 900\/s \| 0\.899 \| UNSETTLED/m);
  });

  void test('JSON has the numbers as they were measured, with a version', () => {
    const { format, version, tables, missing } = JSON.parse(jsonOf(outcome)) as Record<string, unknown>;
    assert.deepEqual([format, version], ['cronlatch-bench', 1]);
    assert.deepEqual(tables, [
      {
        ...{ id: 'mysql/pairs/1', title: 'mysql: pairs', notes: ['a note'] },
        rows: [
          { name: 'driver alone', isBaseline: true, perSecond: 1000.4, ratio: 1 },
          { name: 'library', isBaseline: false, ...library.values },
        ],
      },
    ]);
    assert.deepEqual(missing, outcome.missing);
  });

  void test('what was not measured has each of its reasons', () => {
    assert.match(endOf(outcome), /NOT MEASURED: postgres\n {2}no binary\n {2}no docker$/);
    assert.match(
      pageOf(outcome, 'plot.svg'),
      /!\[[^\]]+\]\(plot\.svg\)[^]*## Not measured\n\n- postgres: no binary/,
    );
  });

  void test('servers and parts with the same reasons are named together', () => {
    const missing = ['a', 'b', 'c'].map((name) => ({ name, reasons: [name === 'b' ? 'down' : 'no time'] }));
    const text = endOf({ ...outcome, missing });
    assert.match(text, /NOT MEASURED: a; c\n {2}no time\nNOT MEASURED: b\n {2}down$/);
  });

  void test('the plot has a dot for each ratio, but none for the baseline', () => {
    const [none = '', one = ''] = [[], [library]].map((rows) => plotOf([table(baseline, settled, ...rows)]));
    const dots = (plot: string, fill: string) =>
      [...plot.matchAll(/<circle [^>]*fill="([^"]+)"/g)].filter(([, found]) => found === fill).length;
    assert.equal(dots(one, 'white') - dots(none, 'white'), 1); // Unsettled, and the legend has one.
    assert.equal(dots(one, '#1f6feb'), dots(none, '#1f6feb'));
    assert.equal(plotOf([table(baseline)]), undefined);
  });

  void test('twice as fast is as far from the baseline as half as fast', () => {
    const at = (ratio: number): number => {
      const row = { name: '<a>', values: { ratio, lowerQuartile: ratio, upperQuartile: ratio } };
      const plot = plotOf([table(row)]) ?? '';
      assert.ok(plot.includes('&lt;a>'));
      return Number([...plot.matchAll(/<circle cx="(\d+)"/g)].at(-1)?.[1]);
    };
    assert.ok(Math.abs(at(2) - at(1) - (at(1) - at(0.5))) <= 1);
    assert.equal(at(1e9), at(32));
  });
});

void suite('the output of a program beside', () => {
  void test('its last line is the number', () => {
    assert.equal(parseRate('warming up\n1234.5\n'), 1234.5);
  });

  for (const output of ['', 'fast', '0', '-1', '1,000', '12 pairs', '5\ndone'])
    void test(`'${output.replace('\n', ' ')}' is refused`, () =>
      assert.throws(() => parseRate(output), /last line/));
});
