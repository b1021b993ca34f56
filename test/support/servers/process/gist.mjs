/** The lines of a program's output that contain its errors; the last ones if no line contains an error. */
export function gist(/** @type {string} */ output) {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const errors = lines.filter((line) => /^E: |\berror\b|\bfatal\b|cannot|could not/i.test(line));
  // The first error causes the others; without any, the last lines are nearest to the failure.
  return (errors.length > 0 ? errors.slice(0, 3) : lines.slice(-3)).join(' | ') || 'no output';
}
