import { processState } from '../../core/process-state';
import { currentContext } from './run-context';

/**
 * Passes what a run writes to `process.stdout` and `process.stderr` to its log, too: `console` and Nest's logger write
 * there. The first run with `keepLog` wraps both streams, once per process.
 */
export function captureOutput(): void {
  processState('captured-output', () => [process.stdout, process.stderr].map(capture));
}

function capture(stream: NodeJS.WriteStream): typeof stream.write {
  const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
  return (stream.write = (chunk: unknown, ...rest: unknown[]) => {
    if (typeof chunk === 'string' || chunk instanceof Uint8Array) currentContext()?.output?.write(chunk);
    return write(chunk, ...rest);
  });
}
