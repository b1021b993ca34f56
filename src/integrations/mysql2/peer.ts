/* eslint-disable @typescript-eslint/no-require-imports -- what it loads is tried before the rest of this folder */
import { requirePeer } from '../../core/peer';

requirePeer('mysql2', 'cronlatch/mysql2', () => require('mysql2') as unknown);
