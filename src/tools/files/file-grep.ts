import { z } from 'zod'
import { type AtPlace, fileTool, LOOKS } from '../define-tool.ts'
import { BoundedPattern } from '../pattern/bounded-pattern.ts'
import { linePattern } from '../pattern/line-pattern.ts'
import { openable } from '../place.ts'
import { openText } from '../text/opened-text.ts'
import type { Tool } from '../tool.ts'
import { grepFile } from './grep-file.ts'
import { GrepOutput } from './grep-output.ts'
import type { GrepQuery } from './grep-query.ts'
import { grepTree } from './grep-tree.ts'

const MAX_CONTEXT = 100

export const fileGrep: Tool = fileTool({
  name: 'file_grep',
  title: 'Search in files',
  description:
    'Find the lines of a file, or of all files below a directory, that match a regular expression (RE2 syntax; start with (?i) to ignore case).',
  hints: LOOKS,
  schema: z.strictObject({
    path: z
      .string()
      .describe(
        'A file or a directory: a vfs:/// URI such as vfs:///workspace, or an absolute path of this machine.',
      ),
    pattern: z.string().min(1, 'must not be empty').describe('A regular expression, tried on each line.'),
    context_before: contextLines('before'),
    context_after: contextLines('after'),
  }),
  async run({ pattern, context_before: before, context_after: after }, at) {
    const query = { pattern: linePattern(pattern), before, after }
    const output = new GrepOutput()
    await search(query, at, output)
    const unfinished = query.pattern instanceof BoundedPattern ? query.pattern.unfinished : 0
    return output.text(pattern, at.place.shown, unfinished)
  },
})

async function search(query: GrepQuery, at: AtPlace, output: GrepOutput): Promise<void> {
  const stat = await openable(at.place, at.call.ctx)
  if (stat.type === 'directory') {
    await grepTree(query, at, output)
    return
  }
  const text = await openText(at, stat)
  const { ctx, progress } = at.call
  await grepFile(query, text, output, {
    progress: (bytes) => progress(bytes, stat.size),
    signal: ctx.signal,
  })
}

function contextLines(side: string): z.ZodDefault<z.ZodInt> {
  return z
    .int()
    .min(0, 'must be 0 or more')
    .max(MAX_CONTEXT, `must be ${MAX_CONTEXT} or less`)
    .default(2)
    .describe(`How many lines to show ${side} each match.`)
}
