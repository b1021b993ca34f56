/* eslint-disable @typescript-eslint/no-require-imports -- what it loads is tried before the rest of this folder */
import { requirePeer } from '../../core/peer';

requirePeer('@nestjs/common', 'cronlatch/nestjs', () => require('@nestjs/common') as unknown);
requirePeer('@nestjs/core', 'cronlatch/nestjs', () => require('@nestjs/core') as unknown);
requirePeer('@nestjs/schedule', 'cronlatch/nestjs', () => require('@nestjs/schedule') as unknown);
requirePeer('reflect-metadata', 'cronlatch/nestjs', () => require('reflect-metadata') as unknown);
