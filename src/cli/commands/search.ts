import type { TextHit } from '../../backends/vault/index.ts'
import { shown } from '../../server/text/index.ts'
import { type Command, command } from '../command.ts'
import { exitCodes } from '../errors.ts'
import { withVault } from '../home-access.ts'
import { styled, type Terminal } from '../terminal.ts'
import { vaultPath } from '../vault-path.ts'
import { shownContent } from '../wording.ts'

const DEFAULT_LIMIT = 10

export const search: Command = command(
  {
    name: 'search',
    summary: 'Find files by the words in them, the best first',
    details: 'Full text: for exact lines there is coppice grep. Exit code 1 when nothing is found.',
    scope: 'vault',
    options: {
      limit: { summary: `No more files than this (${DEFAULT_LIMIT})`, short: 'n', value: 'count' },
      below: { summary: 'Only below this directory', value: 'path', offers: 'path' },
    },
    arguments: { words: { summary: 'What to look for', isList: true } },
    examples: ['coppice search shopping cart', 'coppice search deadline --below /notes -n 3'],
  },
  (call) =>
    withVault(call, async ({ vault }) => {
      const below = call.text('below')
      const hits = await vault.searchText(call.list('words').join(' '), {
        limit: call.count('limit') ?? DEFAULT_LIMIT,
        ...(below !== undefined && { root: vaultPath(below) }),
      })
      await call.output.list(hits, (hit) => hitText(call.terminal, hit))
      return hits.length === 0 ? exitCodes.failed : exitCodes.ok
    }),
)

function hitText(terminal: Terminal, { path, snippets }: TextHit): string {
  const lines = snippets.map(({ line, text }) => `  ${line}: ${shownContent(terminal, text.trim())}`)
  return [styled(terminal, 'magenta', shown(path)), ...lines].join('\n')
}
