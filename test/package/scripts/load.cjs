// Loads what its argument names, as an application that has forgotten to install something.
const [, , specifier] = process.argv;
try {
  console.log(Object.keys(require(specifier)).length > 1 ? 'loaded' : 'empty');
} catch (error) {
  console.log(`${error.name}: ${error.message}`);
}
