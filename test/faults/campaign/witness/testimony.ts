/** What a worker reports of its work, under the token of its grant. */
export type Statement = { readonly name: string; readonly token: number } & (
  | { readonly event: 'enter'; readonly ignoresItsSignal: boolean }
  | { readonly event: 'leave' }
  /** To the fenced register: an effect that counts unless a higher token was there before. */
  | { readonly event: 'write' }
);

/**
 * A message from a worker to the witness. The worker waits for the answer before it works, and before it
 * releases the lock.
 */
export type Report = { readonly serial: number } & Statement;

export interface Answer {
  readonly serial: number;
  /** Of a write: whether it counts. */
  readonly accepted: boolean;
}

/** A line in the witness's record. */
export type Testimony = {
  /** When the message arrived, in the machine's time. The lines are in the order of the events. */
  readonly atMs: number;
  readonly worker: number;
} & (
  | (Statement & { readonly accepted: boolean })
  /** Its process is dead. */
  | { readonly event: 'gone' }
);
