import { shown } from '../../server/text/index.ts'
import { type Match, grep as search } from '../../vfs/index.ts'
import { type Command, command } from '../command.ts'
import { exitCodes } from '../errors.ts'
import { viewOf, withVault } from '../home-access.ts'
import { styled, type Terminal } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'
import { vaultPath } from '../vault-path.ts'
import { shownContent } from '../wording.ts'
import { at } from './shared-options.ts'

export const grep: Command = command(
  {
    name: 'grep',
    summary: 'Print the lines that match a pattern',
    details: `The pattern is a regular expression of JavaScript. Binary files are skipped.
Exit code 1 when nothing matches.`,
    scope: 'vault',
    options: {
      'ignore-case': { summary: 'Capitals match small letters', short: 'i' },
      fixed: { summary: 'The pattern is plain text', short: 'F' },
      context: { summary: 'Lines of context around each match', short: 'C', value: 'lines' },
      files: { summary: 'Only the paths of files that match', short: 'l' },
      at,
    },
    arguments: {
      pattern: { summary: 'What to look for' },
      path: {
        summary: 'A file, or a directory to look below; the root when absent',
        isOptional: true,
        offers: 'path',
      },
    },
    examples: [
      'coppice grep TODO',
      "coppice grep -i -C 2 'total|sum' /src",
      'coppice grep -F "a.b(" --at before',
    ],
  },
  (call) =>
    withVault(call, async ({ vault, ctx }) => {
      const { output, terminal } = call
      const context = call.count('context') ?? 0
      const pattern = patternOf(call.argument('pattern'), call.has('fixed'), call.has('ignore-case'))
      const query = { pattern, before: context, after: context }
      const found = search(viewOf(call, vault), vaultPath(call.given('path') ?? '/'), query, ctx)
      const count = call.has('files')
        ? await output.list(pathsOf(found), shown)
        : await output.list(found, matchLines(terminal, context > 0))
      return count === 0 ? exitCodes.failed : exitCodes.ok
    }),
)

/** A plain string where that says the same: the library can look it up. */
function patternOf(text: string, isFixed: boolean, ignoresCase: boolean): string | RegExp {
  const isPlain = isFixed || !/[\\^$.*+?()[\]{}|]/.test(text)
  if (isPlain && !ignoresCase) return text
  const source = isFixed ? text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&') : text
  try {
    return new RegExp(source, ignoresCase ? 'iu' : 'u')
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    throw new UsageError(`${problem}; -F takes the pattern as plain text`)
  }
}

async function* pathsOf(matches: AsyncIterable<Match>): AsyncGenerator<string> {
  let last: string | undefined
  for await (const { path } of matches) {
    if (path !== last) yield path
    last = path
  }
}

/** The lines of a match; with context, `--` parts it from the one before. */
function matchLines(terminal: Terminal, hasContext: boolean): (match: Match) => string {
  let parting = ''
  return (match) => {
    const lines = `${parting}${matchText(terminal, match)}`
    if (hasContext) parting = '--\n'
    return lines
  }
}

function matchText(terminal: Terminal, { path, line, text, before, after }: Match): string {
  const place = styled(terminal, 'magenta', shown(path))
  const around = (lines: readonly string[], first: number) =>
    lines.map((other, index) => `${place}-${first + index}-${shownContent(terminal, other)}`)
  return [
    ...around(before, line - before.length),
    `${place}:${styled(terminal, 'green', String(line))}:${shownContent(terminal, text)}`,
    ...around(after, line + 1),
  ].join('\n')
}
