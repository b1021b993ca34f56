import type { JobGuard } from '../guard';

/** `'read'` sees everything but logs. `'operate'` also acts, and sees logs. */
export type AccessLevel = 'none' | 'read' | 'operate';

/** What a request may do. */
export interface Access {
  readonly level: AccessLevel;
  /** Who operates, for the history of runs: 1–200 characters. Required for `'operate'`. */
  readonly actor?: string | undefined;
}

export type AccessFunction = (request: Request) => Access | Promise<Access>;

export interface DashboardOptions {
  /** Reads and changes jobs by it. The dashboard starts no job. */
  readonly guard: JobGuard;
  /**
   * Decides what a request may do. Called for each request, and every 30 s for a page that is open. If it fails, takes longer
   * than 5 s or returns anything else, the level is `'none'`.
   */
  readonly access: AccessFunction;
  /** Origins from which forms are accepted, such as `https://ops.example.com`, if a proxy hides the address of the page. */
  readonly origins?: readonly string[] | undefined;
  /** Hides the results and logs of runs from everyone. Default `false` */
  readonly hideResults?: boolean | undefined;
}

/** Answers the requests of browsers, under any path. */
export type Dashboard = (request: Request) => Promise<Response>;
