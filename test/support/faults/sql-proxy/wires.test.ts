import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MysqlWire } from './mysql-wire';
import { PostgresWire } from './postgres-wire';

function packet(number: number, ...payload: number[]): Buffer {
  return Buffer.from([payload.length, 0, 0, number, ...payload]);
}

function query(text: string): Buffer {
  return packet(0, 3, ...Buffer.from(text));
}

const OK = [0, 0, 0, 2, 0, 0, 0];
const ERROR = [0xff, 0x28, 4];

void test('replies of MySQL that arrive together belong to the statements that were sent together', () => {
  const wire = new MysqlWire();
  wire.answered(packet(2, ...OK)); // The session is open.
  const forget = packet(0, 0x19, 1, 0, 0, 0);
  const sent = wire.sent(Buffer.concat([query('a'), forget, query('b'), query('c')]));
  assert.deepEqual(
    sent.map(({ text }) => text),
    ['a', 'b', 'c'],
  );
  const rows = [packet(1, 1), packet(2, 3, 100), packet(3, 0xfe, 0, 0, 2, 0), packet(4, 1, 55)];
  const answers = [packet(1, ...OK), ...rows, packet(5, 0xfe, 0, 0, 2, 0), packet(1, ...ERROR)];
  const heard = wire.answered(Buffer.concat([...answers, packet(0).subarray(0, 3)]));
  assert.deepEqual(
    heard.map(({ statement, isOk }) => [statement?.text, isOk]),
    [
      ['a', true],
      ['b', true],
      ['c', false],
    ],
  );
  assert.deepEqual(Buffer.concat(heard.map(({ bytes }) => bytes)), Buffer.concat(answers));
  assert.deepEqual(wire.rest(), Buffer.from([0, 0, 0]));
});

function message(type: string, ...texts: string[]): Buffer {
  const body = Buffer.from(texts.map((text) => `${text}\0`).join(''));
  const header = Buffer.from([...Buffer.from(type), 0, 0, 0, 4 + body.length]);
  return Buffer.concat([header, body]);
}

void test('replies of PostgreSQL that arrive together belong to the statements that were sent together', () => {
  const wire = new PostgresWire();
  wire.sent(message('', 'the session opens'));
  wire.answered(Buffer.concat([message('R'), message('Z')]));
  const sent = wire.sent(
    Buffer.concat([
      ...[message('P', 'id', 'a'), message('B', '', 'id'), message('E'), message('S')],
      ...[message('Q', 'b'), message('B', '', 'id'), message('E'), message('S')],
    ]),
  );
  assert.deepEqual(
    sent.map(({ text, isPreparation }) => [text, isPreparation]),
    [
      ['a', true],
      ['a', false],
      ['b', false],
      ['a', false],
    ],
  );
  const answers = [
    ...[message('1'), message('2'), message('C', 'UPDATE 1'), message('Z')],
    ...[message('E'), message('Z')],
    ...[message('2'), message('C', 'UPDATE 1'), message('Z')],
  ];
  const heard = wire.answered(Buffer.concat([...answers, Buffer.from('N')]));
  assert.deepEqual(
    heard.map(({ statement, isOk }) => [statement?.text, isOk]),
    [
      ['a', true],
      ['b', false],
      ['a', true],
    ],
  );
  assert.deepEqual(Buffer.concat(heard.map(({ bytes }) => bytes)), Buffer.concat(answers));
  assert.deepEqual(wire.rest(), Buffer.from('N'));
});
