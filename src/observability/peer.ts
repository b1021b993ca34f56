/* eslint-disable @typescript-eslint/no-require-imports -- what it loads is tried before the rest of this folder */
import { requirePeer } from '../core/peer';

requirePeer('@opentelemetry/api', 'cronlatch/observability', () => require('@opentelemetry/api') as unknown);
