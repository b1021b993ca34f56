/** A subpath of the library as a second dependency would bring it: the same files, loaded once more. */
export function secondCopyOf<Subpath extends object>(specifier: string): Subpath {
  const isOurs = (path: string): boolean => /[\\/]dist[\\/]/.test(path) && !/node_modules/.test(path);
  const loaded = Object.entries(require.cache).filter(([path]) => isOurs(path));
  for (const [path] of loaded) delete require.cache[path];
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- `import` would return its cached module
  const copy = require(specifier) as Subpath;
  for (const path of Object.keys(require.cache).filter(isOurs)) delete require.cache[path];
  for (const [path, module] of loaded) require.cache[path] = module;
  return copy;
}
