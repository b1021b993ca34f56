module.exports = {
  apps: [
    {
      name: 'billing',
      script: 'dist/main.js',
      instances: 4,
      exec_mode: 'cluster', // Or 'fork': both work.
      wait_ready: true, // Until process.send('ready').
      listen_timeout: 10_000,
      kill_timeout: 30_000, // Longer than the guard takes to close. PM2's default is 1600.
    },
  ],
};
