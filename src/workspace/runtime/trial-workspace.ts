import { type ExecutionWorkspace, NO_CHANGES } from './execution-workspace.ts'

/** Creates a workspace with the same files, in which commands run without a trace: their changes are discarded. */
export function createTrialWorkspace(workspace: ExecutionWorkspace): ExecutionWorkspace {
  const { directory, forkName } = workspace
  return {
    ...(directory !== undefined && { directory }),
    forkName,
    baseline: (kind, options) => workspace.baseline(kind, options),
    checkpoint: async () => null,
    collect: async () => NO_CHANGES,
  }
}
