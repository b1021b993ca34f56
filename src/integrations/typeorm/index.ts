import './peer';
export type { CreateJobGuardOptions } from './create-job-guard';
export { createJobGuard } from './create-job-guard';
export * from '../../storage/typeorm';
