import { start } from './app';

/** Starts the application on the page, and then stops it. */
void start().then(async (stop) => {
  console.log('started');
  await stop();
  console.log('stopped');
});
