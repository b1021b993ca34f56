// Loads the subpath in its argument, as an application that has forgotten to install a package.
const [, , specifier] = process.argv;
try {
  console.log(Object.keys(require(specifier)).length > 0 ? 'loaded' : 'empty');
} catch (error) {
  console.log(`${error.name}: ${error.message}`);
}
