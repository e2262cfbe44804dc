import { z } from 'zod'
import { listGainedBits, type PathChange } from '../../vfs/index.ts'
import { defineVfsTool, READ_ONLY_HINTS } from '../define-tool.ts'
import { escapeUnprintable } from '../text/escape-unprintable.ts'
import { MAX_TEXT_CHARACTERS, TextOutput } from '../text/text-output.ts'
import type { Tool } from '../tool.ts'
import { toUri } from '../uri.ts'
import { requireWorkspace, requireWritableWorkspace } from './require-workspace.ts'

const CUT_NOTE = '… (cut; there is more)'
const CUT_DIFF = "… (cut; there is more: format 'files' lists every file)"
/** Limit of one file's patch, so that it does not hide the others. */
const MAX_FILE_PATCH_CHARACTERS = MAX_TEXT_CHARACTERS / 4

export const workspaceDiff: Tool = defineVfsTool({
  name: 'workspace_diff',
  title: 'Show what changed',
  description:
    'Show what changed in the workspace since a checkpoint, or since it was forked, as a patch or as a list of files.',
  hints: READ_ONLY_HINTS,
  schema: z.strictObject({
    since: z
      .string()
      .min(1, 'must not be empty')
      .optional()
      .describe('A checkpoint (default: the fork point, or the beginning).'),
    format: z
      .enum(['patch', 'files'])
      .default('patch')
      .describe('The changed lines, or only the changed files.'),
  }),
  async run({ since, format }, environment, { progress }) {
    const workspace = requireWorkspace(environment)
    const output = new TextOutput()
    const parts = format === 'patch' ? workspace.patch(since) : formatChanges(workspace.diff(since))
    for await (const part of parts) {
      output.add(shortenPatch(part.replace(/\n$/, '')))
      if (output.isFull) break
      progress(output.count)
    }
    return output.toText('nothing changed', CUT_DIFF)
  },
})

export const workspaceMerge: Tool = defineVfsTool({
  name: 'workspace_merge',
  title: 'Merge a fork',
  description:
    'Merge the changes of a fork into the workspace. If both changed the same lines, nothing is merged unless on_conflict is given.',
  hints: { readOnly: false, destructive: true, idempotent: true },
  schema: z.strictObject({
    fork: z.string().min(1, 'must not be empty').describe('The name of the fork.'),
    on_conflict: z
      .enum(['fail', 'ours', 'theirs', 'markers'])
      .default('fail')
      .describe(
        'ours keeps the version of the workspace, theirs takes that of the fork, markers writes both between markers.',
      ),
  }),
  async run({ fork, on_conflict: onConflict }, environment, { ctx }) {
    const workspace = await requireWritableWorkspace(environment, ctx)
    const changes = await workspace.merge(fork, onConflict, ctx)
    environment.reads.forget(toUri(workspace.path))
    const output = new TextOutput()
    for (const change of changes) output.add(formatChange(change))
    return output.toText(`'${escapeUnprintable(fork)}' has no changes to merge`, CUT_NOTE)
  },
})

/** Shortens a long patch to its first lines with a note; returns any other as it is. */
function shortenPatch(patch: string): string {
  if (patch.length <= MAX_FILE_PATCH_CHARACTERS) return patch
  const lines = patch.slice(0, patch.lastIndexOf('\n', MAX_FILE_PATCH_CHARACTERS))
  const excess = patch.length - lines.length
  return `${lines}\n… (${excess} more characters of this patch are left out; read the file itself)`
}

async function* formatChanges(changes: AsyncIterable<PathChange>): AsyncGenerator<string> {
  for await (const change of changes) yield formatChange(change)
}

/** Formats a change: its kind, its path, and setuid or setgid if newly set. */
export function formatChange(change: PathChange): string {
  const { kind, path, from } = change
  const where = from === undefined ? path : `${from} -> ${path}`
  const gained = listGainedBits(change)
  return `${kind}\t${escapeUnprintable(where)}${gained.length === 0 ? '' : `\t(${gained.join(', ')})`}`
}
