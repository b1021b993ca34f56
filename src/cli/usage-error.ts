/** The command was called in a wrong way. It ends with the exit code 2. */
export class UsageError extends Error {}
