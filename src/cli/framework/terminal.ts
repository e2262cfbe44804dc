import type { Readable, Writable } from 'node:stream'
import { styleText } from 'node:util'

/** Streams of a command and their abilities. */
export interface Terminal {
  readonly in: Readable
  /** Descriptor of `in`, which a program that this one starts can read itself; absent if there is none. */
  readonly inputDescriptor?: number
  readonly out: Writable
  readonly err: Writable
  /** True if a person watches the output, so that colours and pauses make sense. */
  readonly isInteractive: boolean
  /** True if a person watches the messages, so that progress makes sense. */
  readonly showsProgress: boolean
  /** True if a person can answer questions. */
  readonly canAsk: boolean
  /** Aborted by Ctrl-C, by SIGTERM, or if the terminal is closed. */
  readonly signal: AbortSignal
}

type Style = Parameters<typeof styleText>[0]

/** Styles a text on an interactive terminal; returns it unchanged elsewhere, and if `NO_COLOR` is set. */
export function applyStyle({ isInteractive }: Terminal, style: Style, text: string): string {
  const isPlain = Boolean(process.env['NO_COLOR']) || isDumbTerminal()
  return isInteractive && !isPlain ? styleText(style, text, { validateStream: false }) : text
}

/** Reports whether the terminal shows escape sequences as text. */
export function isDumbTerminal(): boolean {
  return process.env['TERM'] === 'dumb'
}
