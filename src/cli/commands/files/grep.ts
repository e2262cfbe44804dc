import { escapeName } from '../../../text/index.ts'
import { type Match, grep as search, VfsError } from '../../../vfs/index.ts'
import { getVaultView, withVault } from '../../access/home-access.ts'
import { parseVaultPath } from '../../access/parse-vault-path.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import { exitCodes, writeError } from '../../framework/errors.ts'
import { applyStyle, type Terminal } from '../../framework/terminal.ts'
import { UsageError } from '../../framework/usage-error.ts'
import { escapeForTerminal } from '../../render/format-values.ts'
import { at } from '../shared-options.ts'

export const grep: Command = defineCommand(
  {
    name: 'grep',
    summary: 'Print the lines that match a pattern',
    details: `The pattern is a JavaScript regular expression. Binary files are skipped.
Exit code 1 when nothing matches, 2 when a file or the home cannot be read.`,
    scope: 'vault',
    failureCode: exitCodes.searchFailed,
    options: {
      'ignore-case': { summary: 'Ignore upper and lower case', short: 'i' },
      fixed: { summary: 'Treat the pattern as plain text', short: 'F' },
      context: { summary: 'Lines of context around each match', short: 'C', value: 'lines' },
      files: { summary: 'Print only the paths of matching files', short: 'l' },
      at,
    },
    arguments: {
      pattern: { summary: 'Regular expression, or plain text with -F' },
      path: {
        summary: 'File or directory to search (default: the root)',
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
      const context = call.countOption('context') ?? 0
      const pattern = parsePattern(call.argument('pattern'), call.has('fixed'), call.has('ignore-case'))
      let failed = false
      const onUnreadable = (path: string, error: VfsError) => {
        failed = true
        writeError(terminal, VfsError.withPath(error, path), call.isJson)
      }
      const query = { pattern, before: context, after: context, onUnreadable }
      const found = search(
        getVaultView(call, vault),
        parseVaultPath(call.optionalArgument('path') ?? '/'),
        query,
        ctx,
      )
      const count = call.has('files')
        ? await output.writeList(listMatchedPaths(found), escapeName)
        : await output.writeList(found, createMatchFormatter(terminal, context > 0))
      if (failed) return exitCodes.searchFailed
      return count === 0 ? exitCodes.failed : exitCodes.ok
    }),
)

/**
 * Parses a pattern. Returns a plain string where it means the same, because the library can look it up in the index.
 * UsageError if it is no regular expression.
 */
function parsePattern(text: string, isFixed: boolean, ignoresCase: boolean): string | RegExp {
  const isPlain = isFixed || !/[\\^$.*+?()[\]{}|]/.test(text)
  if (isPlain && !ignoresCase) return text
  const source = isFixed ? text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&') : text
  try {
    return new RegExp(source, ignoresCase ? 'iu' : 'u')
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    throw new UsageError(`${problem}; use -F for plain text`)
  }
}

async function* listMatchedPaths(matches: AsyncIterable<Match>): AsyncGenerator<string> {
  let last: string | undefined
  for await (const { path } of matches) {
    if (path !== last) yield path
    last = path
  }
}

/** Creates a formatter of matches. With context, `--` separates a match from the previous one. */
function createMatchFormatter(terminal: Terminal, hasContext: boolean): (match: Match) => string {
  let separator = ''
  return (match) => {
    const lines = `${separator}${formatMatch(terminal, match)}`
    if (hasContext) separator = '--\n'
    return lines
  }
}

function formatMatch(terminal: Terminal, { path, line, text, before, after }: Match): string {
  const styledPath = applyStyle(terminal, 'magenta', escapeName(path))
  const around = (lines: readonly string[], first: number) =>
    lines.map((words, index) => `${styledPath}-${first + index}-${escapeForTerminal(terminal, words)}`)
  return [
    ...around(before, line - before.length),
    `${styledPath}:${applyStyle(terminal, 'green', String(line))}:${escapeForTerminal(terminal, text)}`,
    ...around(after, line + 1),
  ].join('\n')
}
