/** The methods that can be scheduled: this file is compiled in both modes, and never run. */
import { Scheduled } from 'cronlatch/node-cron';

export class Jobs {
  @Scheduled('0 3 * * *')
  async nightly(): Promise<void> {}

  @Scheduled('0 3 * * *', { timeZone: 'Europe/Paris', missedExecutionTolerance: 5000 })
  async withOptions(): Promise<number | undefined> {
    return await Promise.resolve(1);
  }

  @Scheduled('0 3 * * *')
  async optional(dryRun = false): Promise<boolean | undefined> {
    return await Promise.resolve(dryRun);
  }

  @Scheduled('0 3 * * *')
  async rest(...names: string[]): Promise<number | undefined> {
    return await Promise.resolve(names.length);
  }

  @Scheduled('0 3 * * *')
  static async ofTheClass(): Promise<void> {}

  // @ts-expect-error -- a tick has no argument to give
  @Scheduled('0 3 * * *')
  async required(name: string): Promise<string | undefined> {
    return await Promise.resolve(name);
  }
}
