import type { TextHit } from '../../../backends/vault/index.ts'
import { escapeName } from '../../../text/index.ts'
import { withVault } from '../../access/home-access.ts'
import { parseVaultPath } from '../../access/parse-vault-path.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import { exitCodes } from '../../framework/errors.ts'
import { applyStyle, type Terminal } from '../../framework/terminal.ts'
import { escapeForTerminal } from '../../render/format-values.ts'

const DEFAULT_LIMIT = 10

export const search: Command = defineCommand(
  {
    name: 'search',
    summary: 'Search files by words, best match first',
    details: 'Full-text search; coppice grep finds exact lines. Exit code 1 when nothing is found.',
    scope: 'vault',
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
      const hits = await vault.searchText(call.argumentList('words').join(' '), {
        limit: call.countOption('limit') ?? DEFAULT_LIMIT,
        ...(below !== undefined && { root: parseVaultPath(below) }),
      })
      await call.output.writeList(hits, (hit) => formatHit(call.terminal, hit))
      return hits.length === 0 ? exitCodes.failed : exitCodes.ok
    }),
)

function formatHit(terminal: Terminal, { path, snippets }: TextHit): string {
  const lines = snippets.map(({ line, text }) => `  ${line}: ${escapeForTerminal(terminal, text.trim())}`)
  return [applyStyle(terminal, 'magenta', escapeName(path)), ...lines].join('\n')
}
