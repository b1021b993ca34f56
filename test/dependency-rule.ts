/** Which folders of `src` a folder may import from, and which packages. Inward only: core ← ledger ← guard ← decorator ← integrations. */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  ledger: ['core'],
  guard: ['core', 'ledger'],
  decorator: ['core', 'ledger', 'guard'],
  'storage/memory': ['core', 'ledger'],
  'storage/sql': ['core', 'ledger'],
  'storage/typeorm': ['core', 'ledger', 'storage/sql', 'typeorm'],
  'integrations/typeorm': ['core', 'ledger', 'guard', 'storage/sql', 'storage/typeorm', 'typeorm'],
  'integrations/node-cron': ['core', 'guard', 'decorator', 'node-cron'],
  'integrations/nestjs': [
    'core',
    'guard',
    'integrations/typeorm',
    'typeorm',
    '@nestjs/common',
    '@nestjs/core',
    '@nestjs/schedule',
    'reflect-metadata',
  ],
  testing: ['core', 'ledger', 'guard', 'storage/memory'],
  'index.ts': ['core', 'ledger', 'guard', 'decorator'],
};
