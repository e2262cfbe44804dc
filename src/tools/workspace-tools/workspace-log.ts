import { z } from 'zod'
import { LOOKS, vfsTool } from '../define-tool.ts'
import { printable } from '../text/printable.ts'
import { TextOutput } from '../text/text-output.ts'
import type { Tool } from '../tool.ts'
import type { LogEntry } from '../workspace.ts'
import { workspaceOf } from './workspace-of.ts'

export const workspaceLog: Tool = vfsTool({
  name: 'workspace_log',
  title: 'Show the history',
  description:
    'Show the last changes of the workspace, the newest first, with who made them, and its checkpoints.',
  hints: LOOKS,
  schema: z.strictObject({
    limit: z.int().min(1, 'must be 1 or more').default(50).describe('How many changes at most.'),
  }),
  async run({ limit }, bench) {
    const workspace = workspaceOf(bench)
    const output = new TextOutput()
    for (const { name, time } of await workspace.checkpoints()) {
      output.add(`checkpoint\t${time.toISOString()}\t${printable(name)}`)
    }
    for await (const entry of workspace.log(limit)) output.add(told(entry))
    return output.text('nothing happened yet', '… (cut; ask for fewer)')
  },
})

function told({ seq, time, caller, op, path }: LogEntry): string {
  return [seq, time.toISOString(), caller ?? '-', op, printable(path)].join('\t')
}
