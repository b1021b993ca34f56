// The same with `import`.
const [, , specifier] = process.argv;
try {
  console.log(Object.keys(await import(specifier)).length > 1 ? 'loaded' : 'empty');
} catch (error) {
  console.log(`${error.name}: ${error.message}`);
}
