import { finding } from './finding';
import type { ServerDriver } from './server-driver';
import type { NodeWait, SqlRow } from '../statements/statement';
import { driverErrorOf } from '../statements/sql-failure';

export type Ask = (text: string) => Promise<readonly SqlRow[]>;

export const POOLED = finding(
  'pooler',
  'A pooler gives the sessions of the server to any client. So on PostgreSQL the guard sets no time limits in them. If a process freezes while it claims a run, the row stays locked until its connection ends.',
);

export const SPLIT = finding(
  'read-split',
  'A proxy sends plain SELECTs to a replica, and all other statements to the primary. Locks and runs stay correct, but holders are shown late, and overdue runs are noticed late.',
);

/** What is between the sessions of a guard and their server. It warns once of each trap. */
export class ProxyCheck {
  nodeWait: NodeWait | undefined;
  #refusesWait = false;
  readonly #warned = new Set<string>();

  constructor(
    private readonly driver: ServerDriver,
    private readonly warn: (message: string) => void,
  ) {}

  async read(ask: Ask): Promise<SqlRow> {
    const variables = await readVariables(this.driver, ask);
    const wait = this.driver.nodeWait?.(variables);
    this.nodeWait = this.#refusesWait && !wait?.isSet ? undefined : wait;
    if (await isSplit(this.driver, ask, variables)) this.#warnOnce(`${SPLIT.problem} ${SPLIT.fix}`);
    return variables;
  }

  /** If the server refuses the setting, later sessions do not try it. */
  async waitForNode(ask: Ask): Promise<void> {
    if (this.nodeWait === undefined || this.nodeWait.isSet) return;
    try {
      await ask(this.nodeWait.begin);
    } catch (error) {
      if (this.driver.dialect.failureOf(driverErrorOf(error)) !== 'refused') throw error;
      await ask(this.driver.probe); // It fails if the connection is lost.
      this.warnOfNodes();
      this.#refusesWait = true;
      this.nodeWait = undefined;
    }
  }

  async findPooler(ask: Ask, other: Ask): Promise<boolean> {
    if (!(await isPooled(this.driver, ask, other))) return false;
    this.#warnOnce(`${POOLED.problem} ${POOLED.fix}`);
    this.warnOfNodes();
    return true;
  }

  /** For sessions that do not have what the guard would set. */
  warnOfNodes(): void {
    if (this.nodeWait === undefined || this.nodeWait.isSet) return;
    this.#warnOnce(
      `Several nodes of the server's cluster accept writes, and one that lags behind can let a run happen twice, or keep ` +
        `a lock held until its lease expires. Set this on each node: ${this.nodeWait.setting}`,
    );
  }

  #warnOnce(message: string): void {
    if (!this.#warned.has(message)) this.warn(message);
    this.#warned.add(message);
  }
}

async function readVariables({ variables }: ServerDriver, ask: Ask): Promise<SqlRow> {
  const rows = await ask(variables);
  const named = rows.map(({ name, value }) => [String(name).toLowerCase(), value] as const);
  return { ...rows[0], ...Object.fromEntries(named) };
}

/** Whether a plain SELECT is answered by a replica, and one that locks by the primary. */
export async function isSplit(driver: ServerDriver, ask: Ask, found?: SqlRow): Promise<boolean> {
  const variables = found ?? (await readVariables(driver, ask));
  if (!isReadOnly(variables)) return false;
  const [row = {}] = await ask(`SELECT ${driver.readOnly} AS is_read_only FOR UPDATE`);
  return !isReadOnly(row);
}

function isReadOnly({ is_read_only: value }: SqlRow): boolean {
  return /\b(1|on|no_lock)/i.test(String(value));
}

/** A session of the server. Two nodes of a cluster can have sessions with the same number. */
function sessionOf({ session_id: id, hostname, port, wsrep_node_name: node }: SqlRow): string {
  return JSON.stringify([id, hostname, port, node]);
}

/** While guards start at once, a pooler can by chance give two clients a session of the server each, more than once. */
const ROUNDS = 5;

/** Whether two sessions share a session of the server, or one changes it. A pooler does so between transactions. */
export async function isPooled(driver: ServerDriver, ask: Ask, other: Ask): Promise<boolean> {
  const idOf = async (each: Ask): Promise<string> => sessionOf(await readVariables(driver, each));
  const [id, otherId] = [await idOf(ask), await idOf(other)];
  for (let round = 1; round <= ROUNDS && id !== otherId; round += 1)
    if ((await idOf(other)) !== otherId || (await idOf(ask)) !== id) return true;
  return id === otherId;
}
