import { OncePer, SchedulerLock } from 'cronlatch';

export class SyncJobs {
  @SchedulerLock('sync', '5m')
  @OncePer('tick')
  async sync(): Promise<void> {}
}
