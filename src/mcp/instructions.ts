import type { Namespace } from '../namespace/index.ts'
import type { Workspace } from '../tools/index.ts'

export interface InstructionFacts {
  readonly isReadOnly: boolean
  /** True if tools accept host paths. */
  readonly hasHost: boolean
}

const CHECKPOINTS =
  'Save a checkpoint with workspace_checkpoint before a risky step; workspace_restore takes everything back to it, workspace_diff shows what changed.'

/** Formats the instructions for a model: its directories, and how to navigate them. */
export function formatInstructions({ context, workspace }: Namespace, facts: InstructionFacts): string {
  const lines = [
    'Files are named by vfs:/// URIs with three slashes, such as vfs:///shared/notes.md.',
    ...(workspace === undefined
      ? []
      : [
          workspace.directory === undefined
            ? `vfs:///workspace is the project: the vault '${workspace.name}'.${facts.isReadOnly ? '' : ' Work there.'}`
            : `vfs:///workspace is the project: the directory ${workspace.directory}, with the changes of its fork '${workspace.name}' on top.${facts.isReadOnly ? '' : ' Work there.'} The directory itself stays as it is until a person runs: coppice apply ${workspace.name}`,
          ...(facts.isReadOnly ? [] : [CHECKPOINTS]),
          ...(workspace.exec === undefined || facts.isReadOnly ? [] : [formatExecution(workspace)]),
        ]),
    facts.isReadOnly
      ? 'Nothing can be changed here: only read.'
      : `You are the context '${context}'. You may write in ${formatWritableRoots(workspace !== undefined)}vfs:///home/${context}, which is yours alone, and vfs:///shared, which is everybody's; the rest is to be read.`,
    'Find with file_glob and file_grep before you read; file_read gives up to 2,000 lines and says where to go on, file_lines a part; change files with file_edit rather than writing them anew.',
    'What you read is given as it is. Another output that is too long is kept, and you get its URI: look into it with file_grep, file_head, file_tail and file_lines.',
    facts.hasHost
      ? 'Absolute paths of this machine work where they are allowed; a refusal lists the allowed directories.'
      : `${workspace?.directory === undefined ? 'Paths' : 'Other paths'} of this machine are not available: give vfs:/// URIs.`,
  ]
  return lines.join('\n')
}

function formatExecution({ directory }: Workspace): string {
  const paths =
    directory === undefined
      ? 'Give them relative paths: src/a.ts for vfs:///workspace/src/a.ts.'
      : `Their paths work in every tool: ${directory}/src/a.ts and src/a.ts are vfs:///workspace/src/a.ts.`
  return `Run programs with shell_exec: they see the project alone, as the directory they run in, and what they change is in it when they end. ${paths} A value such as coppice-secret-1f2e… stands for a secret that is not shown: leave it as it is.`
}

function formatWritableRoots(hasWorkspace: boolean): string {
  return hasWorkspace ? 'vfs:///workspace, ' : ''
}
