import { z } from 'zod'
import { defineVfsTool } from '../define-tool.ts'
import { escapeUnprintable } from '../text/escape-unprintable.ts'
import type { Tool } from '../tool.ts'
import { toUri } from '../uri.ts'
import { requireWritableWorkspace } from './require-workspace.ts'

export const workspaceCheckpoint: Tool = defineVfsTool({
  name: 'workspace_checkpoint',
  title: 'Take a checkpoint',
  description:
    'Save the state of the workspace under a name, to compare with or restore later; takes constant time.',
  hints: { readOnly: false, destructive: false, idempotent: false },
  schema: z.strictObject({
    name: z.string().min(1, 'must not be empty').describe('A new name for this state.'),
  }),
  async run({ name }, environment, { ctx }) {
    const workspace = await requireWritableWorkspace(environment, ctx)
    const point = await workspace.checkpoint(name, ctx)
    return `checkpoint '${escapeUnprintable(point.name)}' of ${workspace.name} taken at ${point.time.toISOString()}`
  },
})

export const workspaceRestore: Tool = defineVfsTool({
  name: 'workspace_restore',
  title: 'Restore a checkpoint',
  description: 'Restore the workspace to a checkpoint; later changes are removed from it.',
  hints: { readOnly: false, destructive: true, idempotent: true },
  schema: z.strictObject({
    name: z
      .string()
      .min(1, 'must not be empty')
      .describe('The name of a checkpoint; workspace_log lists them.'),
  }),
  async run({ name }, environment, { ctx }) {
    const workspace = await requireWritableWorkspace(environment, ctx)
    await workspace.restore(name, ctx)
    environment.reads.forget(toUri(workspace.path))
    return `${toUri(workspace.path)} is restored to checkpoint '${escapeUnprintable(name)}'`
  },
})

export const workspaceFork: Tool = defineVfsTool({
  name: 'workspace_fork',
  title: 'Fork the workspace',
  description: 'Create a named fork of the workspace; neither side sees later changes of the other.',
  hints: { readOnly: false, destructive: false, idempotent: false },
  schema: z.strictObject({
    name: z.string().min(1, 'must not be empty').describe('The name of the fork.'),
    at: z
      .string()
      .min(1, 'must not be empty')
      .optional()
      .describe('Fork this checkpoint instead of the current state.'),
  }),
  async run({ name, at }, environment, { ctx }) {
    const workspace = await requireWritableWorkspace(environment, ctx)
    const fork = await workspace.fork(name, at)
    const from =
      at === undefined ? workspace.name : `checkpoint '${escapeUnprintable(at)}' of ${workspace.name}`
    return `forked ${from} as '${escapeUnprintable(fork.name)}'; merge its changes with workspace_merge`
  },
})
