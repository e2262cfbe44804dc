import { type CommandChanges, type ExecutionWorkspace, NO_CHANGES } from './execution-workspace.ts'

/**
 * Creates the workspace of a command that joins the session of another. The process of the other command keeps the
 * changes of both.
 */
export function createJoinedWorkspace(directory: string, forkName: string): ExecutionWorkspace {
  return {
    directory,
    forkName,
    baseline: async () => ({
      session: { lower: directory, staged: [] },
      [Symbol.asyncDispose]: async () => {},
    }),
    checkpoint: async () => null,
    collect: async (): Promise<CommandChanges> => NO_CHANGES,
  }
}
