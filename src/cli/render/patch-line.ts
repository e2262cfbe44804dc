import { applyStyle, type Terminal } from '../framework/terminal.ts'
import { escapeForTerminal } from './format-values.ts'

/** Formats a line of a patch with its colour. */
export function formatPatchLine(terminal: Terminal, raw: string): string {
  const line = escapeForTerminal(terminal, raw)
  if (/^(?:diff|---|\+\+\+|new|deleted|old|rename|mode|Binary) /.test(line))
    return applyStyle(terminal, 'bold', line)
  if (line.startsWith('@@')) return applyStyle(terminal, 'cyan', line)
  if (line.startsWith('+')) return applyStyle(terminal, 'green', line)
  return line.startsWith('-') ? applyStyle(terminal, 'red', line) : line
}
