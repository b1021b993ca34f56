import { requirePeer } from '../../core/peer';

requirePeer('typeorm', 'cronlatch/typeorm');
