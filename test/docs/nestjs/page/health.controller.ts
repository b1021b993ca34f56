import { Controller, Get, ServiceUnavailableException } from '@nestjs/common';
import { CronlatchHealthIndicator, type CronlatchHealth } from 'cronlatch/nestjs';

@Controller('health')
export class HealthController {
  constructor(private readonly cronlatch: CronlatchHealthIndicator) {}

  @Get()
  async check(): Promise<Record<string, CronlatchHealth>> {
    const result = await this.cronlatch.isHealthy('locks', { timeout: '500ms' });
    if (result.locks.status === 'down') throw new ServiceUnavailableException(result);
    return result;
  }
}
