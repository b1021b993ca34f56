import { Injectable, Logger } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { SchedulerLock } from 'cronlatch';
import { PrismaService } from './prisma.service';

@Injectable()
export class SessionJobs {
  private readonly logger = new Logger(SessionJobs.name);

  constructor(private readonly prisma: PrismaService) {}

  // Every two seconds, so that you can watch it. Each night: '0 3 * * *', { timeZone: 'Europe/Paris' }.
  @Cron('*/2 * * * * *')
  @SchedulerLock('delete-expired-sessions', '1m', '1s') // Name, lockAtMostFor, lockAtLeastFor.
  async deleteExpiredSessions(): Promise<void> {
    const { count } = await this.prisma.session.deleteMany({ where: { expiresAt: { lt: new Date() } } });
    this.logger.log(`deleted ${count} expired sessions`);
  }
}
