import { z } from 'zod'
import { pathSchema } from '../define-tool.ts'
import type { LineEdit } from './line-edit.ts'
import type { StringEdit } from './string-edit.ts'

type Operation = LineEdit['operation'] | StringEdit['operation']
type Field = 'start' | 'end' | 'content' | 'find' | 'replace' | 'all'

/** Required and optional fields of each operation. */
const FIELDS: Readonly<
  Record<Operation, { readonly needs: readonly Field[]; readonly takes: readonly Field[] }>
> = {
  replace_lines: { needs: ['start', 'content'], takes: ['end'] },
  insert_before: { needs: ['start', 'content'], takes: [] },
  insert_after: { needs: ['start', 'content'], takes: [] },
  delete_lines: { needs: ['start'], takes: ['end'] },
  replace_string: { needs: ['find', 'replace'], takes: ['all'] },
}

const lineNumber: z.ZodInt = z.int().min(1, 'lines are counted from 1')

const editFields = z.strictObject({
  path: pathSchema,
  operation: z
    .enum(['replace_lines', 'insert_before', 'insert_after', 'delete_lines', 'replace_string'])
    .describe(
      'replace_string takes find, replace and all; the others take start, and end or content where they need it.',
    ),
  start: lineNumber
    .optional()
    .describe('The first line to change, or the line to insert before or after, counted from 1.'),
  end: lineNumber
    .optional()
    .describe('The last line to replace or delete, included; the same as start when absent.'),
  content: z
    .string()
    .optional()
    .describe(
      'The new lines. A newline at the end is not needed; replace_lines with "" deletes, "\\n" is a blank line.',
    ),
  find: z
    .string()
    .min(1, 'must not be empty')
    .optional()
    .describe('The text to replace, exactly; it must occur once, unless all is true.'),
  replace: z.string().optional().describe('The replacement, inserted literally.'),
  all: z.boolean().optional().describe('Replace every occurrence.'),
})

type RawEdit = z.infer<typeof editFields>

/** A complete edit request. */
export type EditArguments = { readonly path: string } & (LineEdit | StringEdit)

/**
 * The arguments of file_edit: one flat object, which models fill in best. The fields of each operation are checked
 * afterwards.
 */
export const editArguments: z.ZodType<EditArguments> = editFields
  .superRefine((given, context) => {
    for (const { path, message } of findProblems(given))
      context.addIssue({ code: 'custom', path: [path], message })
  })
  .transform(toEdit)

function findProblems(given: RawEdit): { path: Field; message: string }[] {
  const { needs, takes } = FIELDS[given.operation]
  const all: readonly Field[] = ['start', 'end', 'content', 'find', 'replace', 'all']
  const missing = needs.filter((field) => given[field] === undefined)
  const foreign = all.filter((field) => given[field] !== undefined && ![...needs, ...takes].includes(field))
  const problems = [
    ...missing.map((path) => ({ path, message: `${given.operation} needs it` })),
    ...foreign.map((path) => ({
      path,
      message: `${given.operation} takes ${[...needs, ...takes].join(', ')} only`,
    })),
  ]
  if (given.start !== undefined && given.end !== undefined && given.end < given.start) {
    problems.push({ path: 'end', message: 'must not be less than start' })
  }
  if (given.operation.startsWith('insert') && given.content === '') {
    problems.push({ path: 'content', message: 'must not be empty for an insert; "\\n" is a blank line' })
  }
  return problems
}

function toEdit({ path, operation, start = 1, end = start, content = '', ...rest }: RawEdit): EditArguments {
  if (operation === 'replace_string') {
    return { path, operation, find: rest.find ?? '', replace: rest.replace ?? '', all: rest.all ?? false }
  }
  if (operation === 'delete_lines') return { path, operation, start, end }
  if (operation === 'replace_lines') return { path, operation, start, end, content }
  return { path, operation, start, content }
}
