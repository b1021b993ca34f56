import type { EventHub } from '../core';
import type { StoreContext } from './store-statements';

/** What everything that works on runs needs. */
export interface LedgerContext extends StoreContext {
  readonly events: EventHub;
}
