import type { DayEvent, LineOf } from './witness';

interface Attempt {
  readonly worker: string;
  state: 'runs' | 'failed' | 'killed' | 'completed';
}

/** The data of the line about the job of the day. The workers' messages fill it. */
export class DayBoard {
  readonly #attempts: Attempt[] = [];
  #asked = 0;

  constructor(readonly date: string) {}

  apply({ event, worker, reason }: LineOf<DayEvent>): void {
    switch (event) {
      case 'day-enter':
        this.#attempts.push({ worker, state: 'runs' });
        return;
      case 'day-killed':
        this.#end(worker, 'killed');
        return;
      case 'day-asked':
        this.#asked += 1;
        if (reason === 'done') this.#end(worker, 'completed');
        if (reason === 'failed') this.#end(worker, 'failed');
    }
  }

  /** The worker that runs the second attempt, if one does. */
  get victim(): string | undefined {
    const second = this.#attempts[1];
    return second?.state === 'runs' ? second.worker : undefined;
  }

  /** `day 2026-11-21: called 213 times; 1 failed (w2), 2 runs (w4)` */
  get text(): string {
    const attempts = this.#attempts.map(({ worker, state }, index) => `${index + 1} ${state} (${worker})`);
    return `day ${this.date}: called ${this.#asked} times; ${attempts.join(', ') || 'not started'}`;
  }

  #end(worker: string, state: Attempt['state']): void {
    const attempt = this.#attempts.find((each) => each.worker === worker && each.state === 'runs');
    if (attempt !== undefined) attempt.state = state;
  }
}
