import { z } from 'zod'
import { defineVfsTool, READ_ONLY_HINTS } from '../define-tool.ts'
import { escapeUnprintable } from '../text/escape-unprintable.ts'
import { TextOutput } from '../text/text-output.ts'
import type { Tool } from '../tool.ts'
import type { LogEntry } from '../workspace.ts'
import { requireWorkspace } from './require-workspace.ts'

export const workspaceLog: Tool = defineVfsTool({
  name: 'workspace_log',
  title: 'Show the history',
  description:
    'Show the last changes of the workspace with their callers, newest first, and its checkpoints.',
  hints: READ_ONLY_HINTS,
  schema: z.strictObject({
    limit: z.int().min(1, 'must be 1 or more').default(50).describe('Maximum number of changes.'),
  }),
  async run({ limit }, environment) {
    const workspace = requireWorkspace(environment)
    const output = new TextOutput()
    for (const { name, time } of await workspace.checkpoints()) {
      output.add(`checkpoint\t${time.toISOString()}\t${escapeUnprintable(name)}`)
    }
    for await (const entry of workspace.log(limit)) output.add(formatLogEntry(entry))
    return output.toText('there are no changes yet', '… (cut; ask for fewer)')
  },
})

function formatLogEntry({ seq, time, caller, op, path }: LogEntry): string {
  return [seq, time.toISOString(), caller ?? '-', op, escapeUnprintable(path)].join('\t')
}
