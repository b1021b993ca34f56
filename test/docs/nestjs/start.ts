/** The application on the page, in a process of its own that reports when it listens to signals. */
import { tell } from '../../processes/parent';
import './page/main';

const waiting = setInterval(() => {
  if (process.listenerCount('SIGTERM') === 0) return;
  clearInterval(waiting);
  tell({ event: 'started' });
}, 10);
