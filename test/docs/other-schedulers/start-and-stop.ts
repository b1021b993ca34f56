import { start } from './app';

/** Starts the application on the page, and stops it again. */
void start().then(async (stop) => {
  console.log('started');
  await stop();
  console.log('stopped');
});
