import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** The bytes of the heap after a garbage collection. */
export function usedHeap(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // The first one runs finalizers, whose garbage the second one collects.
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}
