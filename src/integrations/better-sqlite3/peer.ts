/* eslint-disable @typescript-eslint/no-require-imports -- what it loads is tried before the rest of this folder */
import { requirePeer } from '../../core/peer';

requirePeer('better-sqlite3', 'cronlatch/better-sqlite3', () => require('better-sqlite3') as unknown);
