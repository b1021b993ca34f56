/** What a worker tells of itself, under the token of its grant. */
export type Statement = { readonly name: string; readonly token: number } & (
  | { readonly event: 'enter'; readonly ignoresItsSignal: boolean }
  | { readonly event: 'leave' }
  /** To the fenced register: an effect that counts unless a higher token was there before. */
  | { readonly event: 'write' }
);

/** What a worker says to the witness. It waits for the answer: before it works, and before it lets go. */
export type Saying = { readonly serial: number } & Statement;

export interface Answer {
  readonly serial: number;
  /** Of a write: whether it counts. */
  readonly accepted: boolean;
}

/** A line of the witness's. */
export type Testimony = {
  /** When it arrived, in the machine's time. The order of the lines is the order of what happened. */
  readonly atMs: number;
  readonly worker: number;
} & (
  | (Statement & { readonly accepted: boolean })
  /** Its process is dead. */
  | { readonly event: 'gone' }
);
