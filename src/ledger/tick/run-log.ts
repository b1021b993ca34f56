import { StringDecoder } from 'node:string_decoder';
import { stripVTControlCharacters } from 'node:util';
import type { StatementOptions, StorageOutcome } from '../../core';
import { LastingFailure } from '../../core/lasting-failure';
import { refuseOption } from '../../core/options';
import { processState } from '../../core/process-state';
import { describeRun, type Claim, type RunProgress } from '../run';
import type { RunLogEntry, RunOutput } from '../run-log-store';
import { retryTransient, type LedgerContext } from '../store-statements';
import { currentContext, runAs } from './run-context';
import { storedText } from './stored-text';

export interface RunLogOptions {
  /**
   * How much of what each attempt of a once-per job prints is kept, for `guard.ledger.log()` and `cronlatch logs`. A number
   * of bytes, or a text such as `'64 kB'`; at most `'1 MB'`. Default `false`: nothing.
   */
  readonly keepLog?: number | string | false | undefined;
  /** Gets each line of `keepLog`, and returns what is stored of it. If the function throws, the line is not kept. */
  readonly redact?: ((line: string) => string) | undefined;
}

const WRITE_EVERY_MS = 1000;
/** In characters. A line has at most 8 KiB. */
const FULL_ENTRY = 56 * 1024;
const CUT = '… (cut: the log has reached the size of keepLog)\n';

/** Writes what the runs of one guard print, one statement at a time. It never throws, and no run waits for it. */
export class RunLogs {
  readonly #size: number;
  readonly #unwritten = new Set<RunLog>();
  readonly #storeFailure: LastingFailure;
  readonly #redactFailure: LastingFailure;
  #writing = Promise.resolve();
  #timer: (() => void) | undefined;

  /** @throws InvalidLockConfigurationError for an invalid option, and for `keepLog` without a store that keeps logs */
  constructor(
    private readonly context: LedgerContext,
    private readonly options: RunLogOptions,
  ) {
    const { keepLog = false, redact } = options;
    this.#size = keepLog === false ? 0 : bytesOf(keepLog);
    if (redact !== undefined && typeof redact !== 'function')
      refuseOption('redact', redact, 'it must be a function of a line');
    if (this.#size > 0 && context.store.logs === undefined)
      refuseOption('keepLog', keepLog, 'the run store of this guard keeps no logs');
    this.#storeFailure = new LastingFailure(context.events);
    this.#redactFailure = new LastingFailure(context.events);
  }

  open(claim: Claim): RunLog {
    if (this.#size > 0) processState('captured-output', () => [process.stdout, process.stderr].map(capture));
    return new RunLog(this, claim, this.#size);
  }

  schedule(log: RunLog): void {
    this.#unwritten.add(log);
    const write = (): void => {
      this.#timer = undefined;
      void this.flush();
    };
    this.#timer ??= this.context.clock.schedule(WRITE_EVERY_MS, write, { keepAlive: false });
  }

  /** Resolves when these logs are written, or when that has failed. */
  async flush(logs: readonly RunLog[] = [...this.#unwritten]): Promise<void> {
    for (const log of logs) this.#unwritten.delete(log);
    this.#writing = this.#writing.then(async () => {
      for (const log of logs) for (const entry of log.takeEntries()) await this.#append(log.claim, entry);
    });
    await this.#writing;
  }

  async #append(claim: Claim, entry: Pick<RunLogEntry, 'lines'> & RunProgress): Promise<void> {
    const { logs } = this.context.store;
    const message = `Could not store a part of the log of ${describeRun(claim)}. The run goes on.`;
    const append = async (limit: StatementOptions): Promise<void> => logs?.append(claim, entry, limit);
    const isTransient = (outcome: StorageOutcome): boolean => outcome !== 'unknown';
    await this.#storeFailure.attempt(message, () => retryTransient(this.context, append, isTransient));
  }

  /** Outside the run, so that what the function prints is not kept. The warning has no error, which may quote the line. */
  redacted(line: string, claim: Claim): string | undefined {
    try {
      const { redact = (same: string) => same } = this.options;
      const text: unknown = runAs(undefined, () => redact(line));
      if (typeof text === 'string') return text;
    } catch {
      // As if it had returned no text.
    }
    const message = `The option redact returned no text for a line of ${describeRun(claim)}, so the line is not kept.`;
    this.#redactFailure.report(message);
    return undefined;
  }
}

class RunLog implements RunOutput {
  /** Of a line that has no end yet. */
  #tail = '';
  #decoder: StringDecoder | undefined;
  readonly #lines: string[] = [];
  #progress: RunProgress = {};
  #hasProgressed = false;

  /** @param bytesLeft below 0: the log is full, and has its mark */
  constructor(
    private readonly logs: RunLogs,
    readonly claim: Claim,
    private bytesLeft: number,
  ) {}

  write(part: string | Uint8Array): void {
    const text = typeof part === 'string' ? part : (this.#decoder ??= new StringDecoder()).write(part);
    if (this.bytesLeft < 0) return;
    const [first = '', ...more] = text.split(/\r?\n|\r/);
    // Without a line break, nothing is read, so that many short parts cost little.
    if (this.#tail.length < FULL_ENTRY) this.#tail += first.slice(0, FULL_ENTRY);
    for (const next of more) {
      if (this.bytesLeft >= 0) this.#add(stripVTControlCharacters(this.#tail.slice(0, FULL_ENTRY)));
      this.#tail = next.slice(0, FULL_ENTRY);
    }
  }

  progress(progress: RunProgress): void {
    this.#progress = progress;
    this.#hasProgressed = true;
    this.logs.schedule(this);
  }

  /** The rest is written at once. */
  end(): void {
    if (this.#tail !== '') this.write('\n');
    this.bytesLeft = -1;
    void this.logs.flush([this]);
  }

  takeEntries(): (Pick<RunLogEntry, 'lines'> & RunProgress)[] {
    const entries = [];
    while (this.#lines.length > 0 || this.#hasProgressed) {
      let lines = '';
      while (lines.length < FULL_ENTRY && this.#lines.length > 0) lines += this.#lines.shift();
      entries.push({ lines, ...this.#progress });
      this.#hasProgressed = false;
    }
    return entries;
  }

  #add(line: string): void {
    const kept = this.logs.redacted(line, this.claim);
    if (kept === undefined) return;
    const text = `${storedText(kept)}\n`;
    this.bytesLeft -= Buffer.byteLength(text);
    this.#lines.push(this.bytesLeft < 0 ? CUT : text);
    this.logs.schedule(this);
  }
}

/**
 * Passes what a run writes to `process.stdout` and `process.stderr` to its log, too: `console` and Nest's logger write
 * there. The first run with `keepLog` wraps both streams, once per process.
 */
function capture(stream: NodeJS.WriteStream): typeof stream.write {
  const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
  return (stream.write = (chunk: unknown, ...rest: unknown[]) => {
    if (typeof chunk === 'string' || chunk instanceof Uint8Array) currentContext()?.output?.write(chunk);
    return write(chunk, ...rest);
  });
}

/** @throws InvalidLockConfigurationError for anything that is not a size of 1 byte to 1 MB */
function bytesOf(keepLog: number | string): number {
  const [, number, unit = ''] = /^(\d+) ?([km]?)b$/i.exec(String(keepLog)) ?? [];
  const factor = { '': 1, k: 1000, m: 1_000_000 }[unit.toLowerCase()] ?? NaN;
  const bytes = typeof keepLog === 'number' ? keepLog : Number(number) * factor;
  if (bytes >= 1 && bytes <= 1_000_000) return bytes;
  return refuseOption('keepLog', keepLog, `use a number of bytes or a text such as '64 kB', at most '1 MB'`);
}
