import type { JobGuard } from '../guard';

/** `'read'` sees everything but logs. `'operate'` also acts, and sees logs. */
export type AccessLevel = 'none' | 'read' | 'operate';

/** What a request may do. */
export interface Access {
  readonly level: AccessLevel;
  /** Who operates, for the history of runs: 1–128 characters. Required for `'operate'`. */
  readonly actor?: string | undefined;
}

export type AccessFunction = (request: Request) => Access | Promise<Access>;

export interface DashboardOptions {
  /** Reads and changes jobs by it. The dashboard starts no job. */
  readonly guard: JobGuard;
  /**
   * Decides what a request may do. Called for each request: an open page sends one every 5 s. If it fails, takes longer
   * than 5 s or returns anything else, the level is `'none'`.
   */
  readonly access: AccessFunction;
  /**
   * The addresses of the dashboard, such as `https://ops.example.com`. Requests to other hosts and forms from other origins
   * are refused. Default: requests to each host are answered, and forms are accepted from the address of their request.
   */
  readonly origins?: readonly string[] | undefined;
  /** Of all times. Default: that of the jobs, or UTC if theirs differ */
  readonly timeZone?: string | undefined;
  /** Hides the results and logs of runs from everyone. Default `false` */
  readonly hideResults?: boolean | undefined;
}

/** Answers the requests of browsers, under any path. */
export type Dashboard = (request: Request) => Promise<Response>;
