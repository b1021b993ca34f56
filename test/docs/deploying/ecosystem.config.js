module.exports = {
  apps: [
    {
      name: 'billing',
      script: 'dist/main.js',
      instances: 4,
      exec_mode: 'cluster', // Or 'fork': the guard does not mind.
      wait_ready: true, // Until process.send('ready').
      listen_timeout: 10_000,
      kill_timeout: 30_000, // Not PM2's 1600: longer than the guard takes to close.
    },
  ],
};
