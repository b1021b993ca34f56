import type { ProjectKind } from './kind';
import { NODE_KINDS } from './node';
import { RUNNER_KINDS } from './runners';
import { TYPESCRIPT_KINDS } from './typescript';

export type { Failure, ProjectKind, Tool } from './kind';
export const PROJECT_KINDS: readonly ProjectKind[] = [...NODE_KINDS, ...RUNNER_KINDS, ...TYPESCRIPT_KINDS];
export { NODE_KINDS };
