/** What npm run test:stress adds to npm test: rounds, artificial load, and a list of all failures. */
import { spawn } from 'node:child_process';

/**
 * @param {{ rounds: number, load: number }} options `load` is a number of busy processes.
 * @param {() => Promise<{ test: string, file: string, report: string }[]>} runOnce runs all test files and returns what failed
 * @param {(guarded: { pid: number }) => () => void} guard ends a process if this one is killed
 * @returns {Promise<Map<string, { rounds: number[], report: string }>>} the rounds in which each test failed, and how
 */
export async function runRounds({ rounds, load }, runOnce, guard) {
  const stopLoad = startLoad(load, guard);
  const failures = new Map();
  try {
    for (let round = 1; round <= rounds; round++) {
      if (rounds > 1) console.log(`Round ${round} of ${rounds}, with ${load} busy processes:`);
      const failed = new Map((await runOnce()).map(({ test, file, report }) => [`${file}: ${test}`, report]));
      for (const [name, report] of failed)
        failures.set(name, { rounds: [...(failures.get(name)?.rounds ?? []), round], report });
    }
  } finally {
    stopLoad();
  }
  return failures;
}

/** Processes that compete with the tests for the processors. */
function startLoad(count, guard) {
  const stops = Array.from({ length: count }, () => {
    const child = spawn(process.execPath, ['--eval', 'for (;;);'], { detached: true, stdio: 'ignore' });
    const letGo = guard({ pid: child.pid });
    return () => {
      child.kill('SIGKILL');
      letGo();
    };
  });
  return () => stops.forEach((stop) => stop());
}

/** The last lines, which remain where only the end of an output is kept. */
export function listOf(failures, rounds) {
  if (failures.size === 0) return `Every test passed in each of ${rounds} rounds.`;
  const lines = [...failures].map(
    ([name, failed]) =>
      `${name}: ${failed.rounds.length} of ${rounds} rounds (${failed.rounds.join(', ')})\n${failed.report}`,
  );
  return ['Failed, with the rounds:', ...lines].join('\n  ');
}
