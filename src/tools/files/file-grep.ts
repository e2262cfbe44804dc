import { z } from 'zod'
import { defineFileTool, READ_ONLY_HINTS, type TargetContext } from '../define-tool.ts'
import { BoundedPattern } from '../pattern/bounded-pattern.ts'
import { compileLinePattern } from '../pattern/line-pattern.ts'
import { openText } from '../text/opened-text.ts'
import type { Tool } from '../tool.ts'
import { statOpenable } from '../tool-target.ts'
import { grepFile } from './grep-file.ts'
import { GrepOutput } from './grep-output.ts'
import type { GrepQuery } from './grep-query.ts'
import { grepTree } from './grep-tree.ts'

const MAX_CONTEXT = 100

export const fileGrep: Tool = defineFileTool({
  name: 'file_grep',
  title: 'Search in files',
  description:
    'Find the lines of a file, or of all files below a directory, that match a regular expression (RE2 syntax; start with (?i) to ignore case). Leaves out .git unless path names it.',
  hints: READ_ONLY_HINTS,
  schema: z.strictObject({
    path: z
      .string()
      .describe(
        'A file or a directory: a vfs:/// URI such as vfs:///workspace, or an absolute path of this machine.',
      ),
    pattern: z.string().min(1, 'must not be empty').describe('A regular expression, tried on each line.'),
    context_before: contextLinesSchema('before'),
    context_after: contextLinesSchema('after'),
  }),
  async run({ pattern, context_before: before, context_after: after }, targetContext) {
    const query = { pattern: compileLinePattern(pattern), before, after }
    const output = new GrepOutput()
    await searchTarget(query, targetContext, output)
    const unfinished = query.pattern instanceof BoundedPattern ? query.pattern.unfinished : 0
    return output.toText(pattern, targetContext.target.displayPath, unfinished)
  },
})

async function searchTarget(
  query: GrepQuery,
  targetContext: TargetContext,
  output: GrepOutput,
): Promise<void> {
  const stat = await statOpenable(targetContext.target, targetContext.call.ctx)
  if (stat.type === 'directory') {
    await grepTree(query, targetContext, output)
    return
  }
  const text = await openText(targetContext, stat)
  const { ctx, progress } = targetContext.call
  await grepFile(query, text, output, {
    progress: (bytes) => progress(bytes, stat.size),
    signal: ctx.signal,
  })
}

function contextLinesSchema(side: string): z.ZodDefault<z.ZodInt> {
  return z
    .int()
    .min(0, 'must be 0 or more')
    .max(MAX_CONTEXT, `must be ${MAX_CONTEXT} or less`)
    .default(2)
    .describe(`Number of lines to show ${side} each match.`)
}
