import type { BlameLine } from '../../backends/vault/index.ts'
import { shown } from '../../server/text/index.ts'
import { type Command, command } from '../command.ts'
import { withVault } from '../home-access.ts'
import { styled, type Terminal } from '../terminal.ts'
import { vaultPath } from '../vault-path.ts'
import { callerText, shownContent, timeText } from '../wording.ts'

export const blame: Command = command(
  {
    name: 'blame',
    summary: 'Show who wrote each line of a file, and in which version',
    scope: 'vault',
    arguments: { path: { summary: 'The file', offers: 'path' } },
    examples: ['coppice blame /src/cart.ts', 'coppice blame /src/cart.ts --json'],
  },
  (call) =>
    withVault(call, async ({ vault }) => {
      const lines = await vault.blame(vaultPath(call.argument('path')))
      const widths = {
        version: widest(lines.map(({ version }) => version)),
        caller: widest(lines.map(({ caller }) => callerText(caller))),
        line: String(lines.length).length,
      }
      await call.output.list(lines, (line) => blameText(call.terminal, line, widths))
    }),
)

interface Widths {
  readonly version: number
  readonly caller: number
  readonly line: number
}

function blameText(terminal: Terminal, line: BlameLine, widths: Widths): string {
  const trace = line.trace === undefined ? '' : ` ${shown(line.trace)}`
  const origin = [
    line.version.padEnd(widths.version),
    `${callerText(line.caller).padEnd(widths.caller)}${trace}`,
    timeText(line.time),
  ].join(' ')
  return `${styled(terminal, 'dim', origin)} ${String(line.line).padStart(widths.line)}) ${shownContent(terminal, line.text)}`
}

function widest(texts: readonly string[]): number {
  return texts.reduce((width, text) => Math.max(width, text.length), 0)
}
