/** The application: a Fastify server and its jobs. Start as many instances as you like. */
import { createJobGuard } from 'cronlatch/pg';
import Fastify from 'fastify';
import { db, pool } from './database.js';
import { scheduleJobs } from './jobs.js';

const guard = await createJobGuard(pool); // Checks the tables, and opens two connections of its own.
const app = Fastify();
app.get('/', () => db.selectFrom('closing').selectAll().orderBy('business_date').execute());

console.log(`listening on ${await app.listen({ port: Number(process.env['PORT'] ?? 3000) })}`);
scheduleJobs(guard);
guard.closeOnSignals(); // On Ctrl-C or SIGTERM, a running job may end, and its lock is released.
