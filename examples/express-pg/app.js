/** The application: an Express server, its jobs and their dashboard. Start as many instances as you like. */
import { createJobGuard } from 'cronlatch/pg';
import express from 'express';
import pg from 'pg';
import { dashboardOf } from './dashboard.js';
import { scheduleJobs } from './jobs.js';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const guard = await createJobGuard(pool); // Checks the tables, and opens two connections of its own.

const app = express();
app.get('/', (_request, response) => response.send('Hello. The jobs are at /jobs.'));
app.use('/jobs', dashboardOf(guard));

const server = app.listen(Number(process.env.PORT ?? 3000), (error) => {
  if (error) throw error;
  console.log(`listening on http://localhost:${server.address().port}`);
  scheduleJobs(guard, pool);
});
guard.closeOnSignals(); // On Ctrl-C or SIGTERM, running jobs may end, and their locks are released.
