import type { Workspace } from '../tools/index.ts'
import type { CallContext } from '../vfs/index.ts'

/** Saves the files of a process at the end of a step, and returns the name of the checkpoint that has them. */
export type SaveFiles = (step: number) => Promise<string>

/** Creates a function that makes a checkpoint for each step with changes: `step-3`. A step without keeps the last. */
export function createStepSaver(workspace: Workspace, ctx: CallContext): SaveFiles {
  let saved: { readonly name: string; readonly seq: number } | undefined
  return async (step) => {
    if (saved?.seq === (await readLastSeq(workspace))) return saved.name
    const name = `step-${step}`
    await workspace.checkpoint(name, ctx)
    saved = { name, seq: await readLastSeq(workspace) }
    return name
  }
}

/** Returns the number of the last change; 0 if there is none. */
async function readLastSeq(workspace: Workspace): Promise<number> {
  for await (const { seq } of workspace.log(1)) return seq
  return 0
}
