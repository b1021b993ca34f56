import type { Squad } from './squad/squad';

const EVERY_MS = 10_000;

/** Prints a line at intervals: the time and the events so far. */
export function reportProgress(squad: Squad, minutes: number, faults: () => number, over: AbortSignal): void {
  const startMs = performance.now();
  const counted = new WeakSet<object>();
  const seen = { attempts: 0, grants: 0 };
  const timer = setInterval(() => {
    for (const { messages } of squad.members)
      for (const message of messages)
        if (message.event === 'progress' && !counted.has(message)) {
          counted.add(message);
          seen.attempts += message.attempts;
          seen.grants += message.grants;
        }
    const passed = minutesAndSeconds(performance.now() - startMs);
    const whole = minutesAndSeconds(minutes * 60_000);
    console.log(
      `${passed} of ${whole}  attempts ${seen.attempts}  grants ${seen.grants}  faults ${faults()}`,
    );
  }, EVERY_MS);
  over.addEventListener('abort', () => clearInterval(timer), { once: true });
}

function minutesAndSeconds(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
