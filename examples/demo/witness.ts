import { appendFileSync, readFileSync } from 'node:fs';

/**
 * The witness file: one line per event, written by the process in which it happened. A short line appended in
 * one call stays whole if other processes append at the same time, and it stays if its writer is killed.
 *
 *     enter w2 2026-11-21T03:00:01.000Z 1795230001004
 */
const TICK_EVENTS = {
  fired: 'the scheduler started this tick in the worker, before any lock was taken',
  enter: 'the handler started',
  exit: 'the handler ended',
  skipped: 'another worker held the lock',
  failed: 'the lock could not be acquired, or the job threw',
  missed: 'the scheduler was too late and dropped the tick',
  killed: 'the worker died inside its handler; written by the parent',
};

const DAY_EVENTS = {
  'day-asked': 'the job of the day was called; the result follows',
  'day-enter': 'an attempt of the job of the day started',
  'day-killed': 'the worker died inside such an attempt; written by the parent',
};

export type TickEvent = keyof typeof TICK_EVENTS;
export type DayEvent = keyof typeof DAY_EVENTS;
export type WitnessEvent = TickEvent | DayEvent;

export type WitnessLine = LineOf<TickEvent> | LineOf<DayEvent>;

export interface LineOf<Event extends WitnessEvent> {
  readonly event: Event;
  readonly worker: string;
  /** The scheduled time of the tick, or an instant of the day; in milliseconds since 1970, as `at` is. */
  readonly scheduledAt: number;
  readonly at: number;
  readonly reason?: string | undefined;
}

export function formatLine({ event, worker, scheduledAt, at, reason }: WitnessLine): string {
  return [
    event,
    worker,
    new Date(scheduledAt).toISOString(),
    at,
    ...(reason === undefined ? [] : [reason]),
  ].join(' ');
}

/** @throws Error for an incomplete or invalid line */
export function parseLine(text: string): WitnessLine {
  const [event = '', worker, scheduled = '', at = '', reason] = text.split(' ');
  const line = { worker, scheduledAt: Date.parse(scheduled), at: Number.parseInt(at, 10), reason };
  if (!isEvent(event) || !isNamed(line) || Number.isNaN(line.scheduledAt + line.at)) {
    throw new Error(`This is not a line of the witness file: '${text}'.`);
  }
  return { event, ...line };
}

export function appendLine(file: string, line: WitnessLine): void {
  appendFileSync(file, `${formatLine(line)}\n`);
}

export function readLines(file: string): WitnessLine[] {
  return readFileSync(file, 'utf8').split('\n').filter(Boolean).map(parseLine);
}

export function isOfDay(line: WitnessLine): line is LineOf<DayEvent> {
  return Object.hasOwn(DAY_EVENTS, line.event);
}

function isEvent(text: string): text is WitnessEvent {
  return Object.hasOwn({ ...TICK_EVENTS, ...DAY_EVENTS }, text);
}

function isNamed<T extends { worker: string | undefined }>(line: T): line is T & { worker: string } {
  return line.worker !== undefined;
}
