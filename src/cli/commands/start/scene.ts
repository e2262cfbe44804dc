import { applyStyle, type Terminal } from '../../framework/terminal.ts'

/** One step of a guided run: its title, the commands, and their output. */
export interface Scene {
  readonly title: string
  readonly code: string
  readonly result: string
}

/** Formats a scene as text. */
export function formatScene({ title, code, result }: Scene, terminal: Terminal): string {
  const indentText = (text: string) => text.replaceAll(/^/gm, '    ')
  return [
    applyStyle(terminal, 'bold', title),
    applyStyle(terminal, 'cyan', indentText(code)),
    applyStyle(terminal, 'dim', indentText(result)),
    '',
  ].join('\n')
}
