import { appendFileSync, readFileSync } from 'node:fs';

/**
 * The witness file: what happened, a line each, written by the process it happened to. A short line that is appended in
 * one call stays whole, whoever else appends at the same time; and it stays when its writer is killed.
 *
 *     enter w2 2026-11-21T03:00:01.000Z 1795230001004
 */
const TICK_EVENTS = {
  fired: 'the scheduler woke the worker for this tick, whatever the lock said then',
  enter: 'the handler began',
  exit: 'the handler ended',
  skipped: 'the lock said no',
  failed: 'the lock could not be asked, or the job threw',
  missed: 'the scheduler woke too late and dropped the tick',
  killed: 'the worker died inside its handler; written by the parent',
};

const DAY_EVENTS = {
  'day-asked': 'the job of the day was asked for; what came of it stands behind',
  'day-enter': 'an attempt at the job of the day began',
  'day-killed': 'the worker died inside such an attempt; written by the parent',
};

export type TickEvent = keyof typeof TICK_EVENTS;
export type DayEvent = keyof typeof DAY_EVENTS;
export type WitnessEvent = TickEvent | DayEvent;

export type WitnessLine = LineOf<TickEvent> | LineOf<DayEvent>;

export interface LineOf<Event extends WitnessEvent> {
  readonly event: Event;
  readonly worker: string;
  /** The instant that the scheduler meant, or that names the day; in milliseconds since 1970, as is `at`. */
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

/** @throws Error for anything but a whole line */
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
