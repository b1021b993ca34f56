/** The dashboard for the user `admin`. It is closed until you set DASHBOARD_PASSWORD. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { createDashboard, toNodeHandler } from 'cronlatch/dashboard';

export function dashboardOf(guard) {
  const handler = toNodeHandler(createDashboard({ guard, access }));
  return (request, response) => {
    if (request.headers.authorization) return handler(request, response);
    response.status(401).set('WWW-Authenticate', 'Basic').end(); // The browser shows its login.
  };
}

/** In your application, read the session of the user instead. */
function access(request) {
  const password = process.env.DASHBOARD_PASSWORD;
  if (!password) return { level: 'none' };
  const expected = `Basic ${Buffer.from(`admin:${password}`).toString('base64')}`;
  const isAdmin = timingSafeEqual(hashOf(request.headers.get('authorization') ?? ''), hashOf(expected));
  return isAdmin ? { level: 'operate', actor: 'admin' } : { level: 'none' };
}

function hashOf(text) {
  return createHash('sha256').update(text).digest();
}
