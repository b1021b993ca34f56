/**
 * Two processes and a job that runs every second: one process runs each tick, and the job continues if the
 * other is killed. Started without arguments this file is the parent, which starts itself twice more.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { EventEmitter, on, once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { SchedulerLock } from 'cronlatch';
import { Scheduled, scheduleJobs } from 'cronlatch/node-cron';
import { createJobGuard } from 'cronlatch/typeorm';
import dataSource from '../ormconfig';

class ReportJobs {
  @Scheduled('* * * * * *')
  @SchedulerLock('send-reports', '2s', '800ms')
  async sendReports(): Promise<void> {
    await setTimeout(200); // The work.
  }
}

/** An application, which reports its runs to its parent. */
async function worker(): Promise<void> {
  const endWithParent = (): void => process.exit(1);
  process.once('disconnect', endWithParent);
  await dataSource.initialize();
  const guard = await createJobGuard(dataSource);
  const report = (verb: string) => (event: { scheduledAt: Date | undefined }) =>
    process.send?.(`${event.scheduledAt?.toISOString().slice(11, 19)} ${verb}`, (error: Error | null) => {
      if (error !== null) endWithParent();
    });
  guard.on('run:started', report('runs'));
  guard.on('lock:skipped', report('skips'));
  scheduleJobs(new ReportJobs(), { guard });
  guard.closeOnSignals();
}

async function parent(): Promise<void> {
  await dataSource.initialize();
  await dataSource.runMigrations(); // Once, before the instances start.
  await dataSource.destroy();

  const crew = new EventEmitter();
  const start = (name: string): ChildProcess => {
    const child = fork(__filename, [name]);
    console.log(`${name} is process ${child.pid}`);
    child.on('message', (text) => crew.emit('news', text, name, child));
    // A worker that a signal ended has no code: the parent ended it.
    child.on('exit', (code) => code !== null && crew.emit('error', new Error(`${name} ended with ${code}.`)));
    return child;
  };
  const workers = [start('one'), start('two')];
  const ended = Promise.all(workers.map((child) => once(child, 'exit')));
  try {
    let runs = 0;
    for await (const news of on(crew, 'news', { signal: AbortSignal.timeout(30_000) })) {
      const [text, name, child] = news as [string, string, ChildProcess];
      console.log(text, `(${name})`);
      if (text.endsWith('runs')) runs += 1;
      if (runs === 4) break;
      if (runs !== 2 || !text.endsWith('runs')) continue;
      child.kill('SIGKILL'); // During its run: the lock is free 2 seconds after it was taken.
      console.log(name, 'is killed');
    }
  } finally {
    for (const child of workers) child.kill();
    await ended;
  }
  console.log('all have ended');
}

void (process.argv.length > 2 ? worker() : parent());
