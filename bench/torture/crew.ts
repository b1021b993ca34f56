import { join } from 'node:path';
import { Child } from '../../test/processes/child';
import { machineMs } from '../../test/processes/machine-time';
import type { Run, Story, Strike } from './story';
import type { InstanceMessage, InstanceOrders, InstanceCommand } from './orders';

const NAMES = ['a', 'b'] as const;

/** One of the two processes of a side, and when it died. */
export interface Member {
  readonly name: string;
  readonly child: Child<InstanceMessage>;
  diedMs: number;
}

/** The two processes of one side of a row, and the witness of their runs. */
export class Crew {
  readonly members: readonly Member[];
  /** Rejects if one ends unexpectedly. */
  readonly casualty: Promise<never>;
  readonly #dismissed = new Set<Member>();
  readonly #strikes: Strike[] = [];

  constructor(orders: Omit<InstanceOrders, 'instance'>) {
    this.members = NAMES.map((instance) => ({
      name: instance,
      child: new Child<InstanceMessage>('../../../bench/torture/instance.js', {
        argument: { ...orders, instance },
        environment: skewOf(orders, instance),
      }),
      diedMs: Infinity,
    }));
    this.casualty = Promise.race(this.members.map((member) => this.#fallOf(member)));
    this.casualty.catch(() => {}); // Those that wait for it get the error.
  }

  async ready(): Promise<void> {
    await Promise.all(this.members.map(({ child }) => child.received('ready')));
  }

  send(word: InstanceCommand): void {
    for (const member of this.members) this.sendOne(member, word);
  }

  sendOne(member: Member, word: InstanceCommand): void {
    if (!this.#dismissed.has(member)) member.child.send(word);
  }

  /** Records a strike at a fire. */
  strike(member: Member, kind: Strike['kind'], slotMs: number): void {
    this.#strikes.push({ kind, slotMs, instance: member.name, atMs: machineMs() });
    if (kind === 'kill') this.#kill(member);
    else this.sendOne(member, { word: kind });
  }

  #kill(member: Member): void {
    this.#dismissed.add(member);
    member.child.kill('SIGKILL');
  }

  /** What they have reported so far. */
  story(slots: readonly number[]): Story {
    return { slots, runs: this.members.flatMap(runsOf), strikes: this.#strikes };
  }

  get isEnded(): boolean {
    return this.#dismissed.size === this.members.length;
  }

  async end(): Promise<void> {
    for (const member of this.members) this.#kill(member);
    await Promise.all(this.members.map(({ child }) => child.ended));
  }

  async #fallOf(member: Member): Promise<never> {
    const ending = await member.child.ended;
    member.diedMs = machineMs();
    if (this.#dismissed.has(member)) return await new Promise(() => {});
    throw new Error(`Process ${member.name} ended unexpectedly: ${ending.join(', ')}.`);
  }
}

function runsOf({ name, child, diedMs }: Member): Run[] {
  return child.messages.flatMap((begin) => {
    if (begin.event !== 'begin') return [];
    const run = { slotMs: begin.slotMs, instance: name, beganMs: begin.atMs };
    const end = child.messages.find((message) => message.event === 'end' && message.run === begin.run);
    if (end?.event === 'end')
      return { ...run, endedMs: end.atMs, ending: end.isCompleted ? 'completed' : 'failed' };
    return { ...run, endedMs: diedMs, ending: diedMs === Infinity ? 'going-on' : 'crashed' };
  });
}

function skewOf({ row }: Omit<InstanceOrders, 'instance'>, instance: string): Record<string, string> {
  if (row.blow.kind !== 'skew' || instance !== 'b') return {};
  const clock = join(__dirname, 'skewed-clock.js');
  return {
    NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --require=${JSON.stringify(clock)}`,
    CRONLATCH_TORTURE_SKEW_MS: String(row.blow.ms),
  };
}
