/** The application on the page, in a process of its own that reports when it listens to signals. */
import { send } from '../../processes/parent';
import './page/main';

const waiting = setInterval(() => {
  if (process.listenerCount('SIGTERM') === 0) return;
  clearInterval(waiting);
  send({ event: 'started' });
}, 10);
