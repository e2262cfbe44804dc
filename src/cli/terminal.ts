import type { Writable } from 'node:stream'
import { styleText } from 'node:util'

/** Where a command writes, and what that place can show. */
export interface Terminal {
  readonly out: Writable
  readonly err: Writable
  /** A person is watching: colours, pauses and progress make sense. */
  readonly isInteractive: boolean
  readonly signal: AbortSignal
}

type Style = Parameters<typeof styleText>[0]

/** Text in a style where a person is watching, and plain everywhere else. */
export function styled({ isInteractive }: Terminal, style: Style, text: string): string {
  return isInteractive && !process.env['NO_COLOR'] ? styleText(style, text, { validateStream: false }) : text
}
