/** The lines of a program's output that tell why it failed; its last ones if none says that it is an error. */
export function gist(/** @type {string} */ output) {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const errors = lines.filter((line) => /^E: |\berror\b|\bfatal\b|cannot|could not/i.test(line));
  // The first error is the cause of the others; without any, the end is what is nearest to the failure.
  return (errors.length > 0 ? errors.slice(0, 3) : lines.slice(-3)).join(' | ') || 'it said nothing';
}
