import type { GuardConfiguration } from 'cronlatch';

export interface Job {
  readonly expression: string;
  readonly timeZone: string;
  readonly guarded: GuardConfiguration;
  readonly run: () => Promise<void>;
}
