import { Controller, Get, ServiceUnavailableException } from '@nestjs/common';
import { CronlatchHealthIndicator, type CronlatchHealth } from 'cronlatch/nestjs';

@Controller('health')
export class HealthController {
  constructor(private readonly cronlatch: CronlatchHealthIndicator) {}

  /** For the readiness probe of a load balancer or of Kubernetes. */
  @Get()
  async check(): Promise<Record<string, CronlatchHealth>> {
    const result = await this.cronlatch.isHealthy('jobs');
    if (result.jobs.status === 'down') throw new ServiceUnavailableException(result);
    return result;
  }
}
