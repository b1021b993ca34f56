/** Preloaded into an example by `startExample`: an example whose test's process has died ends too. */
process.once('disconnect', () => process.exit(1));
process.channel?.unref(); // An example that has done its work ends although the channel is open.
process.execArgv = []; // Not for the processes that it forks.
