import type { TextHit } from '../../../backends/vault/index.ts'
import { escapeName } from '../../../text/index.ts'
import { VfsError } from '../../../vfs/index.ts'
import { withVault } from '../../access/home-access.ts'
import { parseVaultPath } from '../../access/parse-vault-path.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import { exitCodes, writeError } from '../../framework/errors.ts'
import { applyStyle, type Terminal } from '../../framework/terminal.ts'
import { escapeForTerminal } from '../../render/format-values.ts'

const DEFAULT_LIMIT = 10

export const search: Command = defineCommand(
  {
    name: 'search',
    summary: 'Search files by words, best match first',
    details:
      'Full-text search; coppice grep finds exact lines. Exit code 1 when nothing is found, 2 when a file or the home cannot be read.',
    scope: 'vault',
    failureCode: exitCodes.searchFailed,
    options: {
      limit: { summary: `Maximum number of files (${DEFAULT_LIMIT})`, short: 'n', value: 'count' },
      below: { summary: 'Search only below this directory', value: 'path', offers: 'path' },
    },
    arguments: { words: { summary: 'Words to search for', isList: true } },
    examples: ['coppice search shopping cart', 'coppice search deadline --below /notes -n 3'],
  },
  (call) =>
    withVault(call, async ({ vault }) => {
      const below = call.option('below')
      let failed = false
      const onUnreadable = (path: string, error: VfsError) => {
        failed = true
        writeError(call.terminal, VfsError.withPath(error, path), call.isJson)
      }
      const hits = await vault.searchText(call.argumentList('words').join(' '), {
        limit: call.countOption('limit') ?? DEFAULT_LIMIT,
        onUnreadable,
        ...(below !== undefined && { root: parseVaultPath(below) }),
      })
      await call.output.writeList(hits, (hit) => formatHit(call.terminal, hit))
      if (failed) return exitCodes.searchFailed
      return hits.length === 0 ? exitCodes.failed : exitCodes.ok
    }),
)

function formatHit(terminal: Terminal, { path, snippets }: TextHit): string {
  const lines = snippets.map(({ line, text }) => `  ${line}: ${escapeForTerminal(terminal, text.trim())}`)
  return [applyStyle(terminal, 'magenta', escapeName(path)), ...lines].join('\n')
}
