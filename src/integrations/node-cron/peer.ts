import { requirePeer } from '../../core/peer';

requirePeer('node-cron', 'cronlatch/node-cron');
