import { requirePeer } from '../../core/peer';

for (const name of ['@nestjs/common', '@nestjs/core', '@nestjs/schedule', 'reflect-metadata'])
  requirePeer(name, 'cronlatch/nestjs');
