import type { Readable, Writable } from 'node:stream'
import { styleText } from 'node:util'

/** Streams of a command and their abilities. */
export interface Terminal {
  readonly in: Readable
  readonly out: Writable
  readonly err: Writable
  /** A person is watching the output: colours and pauses make sense. */
  readonly isInteractive: boolean
  /** A person is watching the messages: progress makes sense. */
  readonly showsProgress: boolean
  /** A person can be asked. */
  readonly canAsk: boolean
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal
}

type Style = Parameters<typeof styleText>[0]

/** Text in a style where a person is watching, and plain everywhere else. */
export function applyStyle({ isInteractive }: Terminal, style: Style, text: string): string {
  const isPlain = Boolean(process.env['NO_COLOR']) || isDumbTerminal()
  return isInteractive && !isPlain ? styleText(style, text, { validateStream: false }) : text
}

/** Reports whether the terminal shows escape sequences as text. */
export function isDumbTerminal(): boolean {
  return process.env['TERM'] === 'dumb'
}
