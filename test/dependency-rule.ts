/** Which folders of `src` a folder may import from, and which packages. Inward only: core ← guard ← decorator ← integrations. */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  guard: ['core'],
  decorator: ['core', 'guard'],
  'storage/memory': ['core'],
  'storage/sql': ['core'],
  'storage/typeorm': ['core', 'storage/sql', 'typeorm'],
  'integrations/typeorm': ['core', 'guard', 'storage/typeorm', 'typeorm'],
  'integrations/node-cron': ['core', 'guard', 'decorator', 'node-cron'],
  testing: ['core', 'guard', 'storage/memory'],
  'index.ts': ['core', 'guard', 'decorator'],
};
