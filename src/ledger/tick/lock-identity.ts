import { createHash, randomUUID } from 'node:crypto';
import type { LockProvider } from '../../core';

/** As wide as the column. */
const LONGEST = 128;
const KEPT = 63;

/** Of providers that do not say where their locks are. Each counts as a place of its own. */
const unnamedPlaces = new WeakMap<LockProvider, string>();

/** Which lock a run was started under: two attempts under the same one cannot both hold it. */
export function lockIdOf(provider: LockProvider, lockName: string): string {
  const id = `${provider.id ?? unnamedPlaceOf(provider)}/${lockName}`;
  const characters = Array.from(id);
  if (characters.length <= LONGEST) return id;
  return `${characters.slice(0, KEPT).join('')}#${createHash('sha256').update(id).digest('hex')}`;
}

function unnamedPlaceOf(provider: LockProvider): string {
  const place = unnamedPlaces.get(provider) ?? randomUUID();
  unnamedPlaces.set(provider, place);
  return place;
}
