import type { BlameLine } from '../../../backends/vault/index.ts'
import { escapeName } from '../../../text/index.ts'
import { withVault } from '../../access/home-access.ts'
import { parseVaultPath } from '../../access/parse-vault-path.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import { applyStyle, type Terminal } from '../../framework/terminal.ts'
import { escapeForTerminal, formatCaller, formatTime } from '../../render/format-values.ts'

export const blame: Command = defineCommand(
  {
    name: 'blame',
    summary: 'Show the author and version of each line',
    scope: 'vault',
    arguments: { path: { summary: 'The file', offers: 'path' } },
    examples: ['coppice blame /src/cart.ts', 'coppice blame /src/cart.ts --json'],
  },
  (call) =>
    withVault(call, async ({ vault }) => {
      const lines = await vault.blame(parseVaultPath(call.argument('path')))
      const widths = {
        version: getMaxLength(lines.map(({ version }) => version)),
        caller: getMaxLength(lines.map(({ caller }) => formatCaller(caller))),
        line: String(lines.length).length,
      }
      await call.output.writeList(lines, (line) => formatBlameLine(call.terminal, line, widths))
    }),
)

interface Widths {
  readonly version: number
  readonly caller: number
  readonly line: number
}

function formatBlameLine(terminal: Terminal, line: BlameLine, widths: Widths): string {
  const trace = line.trace === undefined ? '' : ` ${escapeName(line.trace)}`
  const origin = [
    line.version.padEnd(widths.version),
    `${formatCaller(line.caller).padEnd(widths.caller)}${trace}`,
    formatTime(line.time),
  ].join(' ')
  return `${applyStyle(terminal, 'dim', origin)} ${String(line.line).padStart(widths.line)}) ${escapeForTerminal(terminal, line.text)}`
}

function getMaxLength(texts: readonly string[]): number {
  return texts.reduce((width, text) => Math.max(width, text.length), 0)
}
