import { defineConfig, env } from 'prisma/config';

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  datasource: { url: env('DATABASE_URL') },
  // `cronlatch init` creates these tables. `prisma migrate dev` must not take them for a change of your schema.
  experimental: { externalTables: true },
  tables: {
    external: [
      'public.shedlock',
      'public.cronlatch_run',
      'public.cronlatch_run_event',
      'public.cronlatch_job',
      'public.cronlatch_run_act',
      'public.cronlatch_run_notice',
      'public.cronlatch_run_log',
    ],
  },
});
