/** Servers need not know the names of zones, but all of them know offsets. */
export interface SessionZone {
  readonly name: string;
  readonly offset: string;
}

export const LOS_ANGELES: SessionZone = { name: 'America/Los_Angeles', offset: '-08:00' };
const PRAGUE: SessionZone = { name: 'Europe/Prague', offset: '+01:00' };

/** How the processes of a test differ. None of this may matter. */
interface Surroundings {
  /** The time zone of the process. */
  readonly timeZone: string;
  /** The zone of the application's sessions in the database; if left out, the server's. */
  readonly sessionZone?: SessionZone;
}

export const SURROUNDINGS: readonly Surroundings[] = [
  { timeZone: 'Pacific/Kiritimati' },
  { timeZone: 'Europe/Prague', sessionZone: LOS_ANGELES },
  { timeZone: 'America/Los_Angeles', sessionZone: PRAGUE },
  { timeZone: 'UTC' },
  { timeZone: 'Pacific/Kiritimati', sessionZone: LOS_ANGELES },
  { timeZone: 'Europe/Prague' },
  { timeZone: 'America/Los_Angeles' },
  { timeZone: 'UTC', sessionZone: LOS_ANGELES },
];
