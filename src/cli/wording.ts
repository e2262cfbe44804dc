import type { Caller } from '../vfs/index.ts'
import type { Terminal } from './terminal.ts'

const KIBIBYTE = 1024
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
/** Control characters, and those that turn the direction of text around: a name must not steer a terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is they that are looked for
const UNSHOWABLE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu
const ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\t': '\\t', '\r': '\\r' }

/** What lays text out is fine in content. */
const LAYOUT: ReadonlyMap<string, string> = new Map([...'\n\t\r'].map((character) => [character, character]))

/**
 * A name or path as one line shows it: as it is, or in quotes with escapes as C, git and `$'…'` of a shell write them
 * if it holds what cannot be shown. `--json` always has it exactly.
 */
export function shown(name: string): string {
  if (name.search(UNSHOWABLE) === -1 && !name.startsWith('"')) return name
  const escaped = name.replaceAll(/[\\"]/g, '\\$&').replaceAll(UNSHOWABLE, escapeOf)
  return `"${escaped}"`
}

/** Content as a terminal shows it: what would steer the terminal is escaped. Anywhere else it stays as it is. */
export function shownContent({ isInteractive }: Terminal, text: string): string {
  return isInteractive
    ? text.replaceAll(UNSHOWABLE, (character) => LAYOUT.get(character) ?? escapeOf(character))
    : text
}

function escapeOf(character: string): string {
  const octal = (byte: number) => `\\${byte.toString(8).padStart(3, '0')}`
  return ESCAPES[character] ?? [...Buffer.from(character)].map(octal).join('')
}

/** `1.5 MiB`. */
export function bytesText(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10))
  const scaled = bytes / KIBIBYTE ** power
  return `${power === 0 ? scaled : scaled.toFixed(1)} ${UNITS[power]}`
}

/** `3 files`, `1 file`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`
}

/** A time of this machine, to the second: `2026-11-15 06:11:36`. */
export function timeText(time: Date): string {
  const pad = (part: number) => String(part).padStart(2, '0')
  const day = [time.getFullYear(), pad(time.getMonth() + 1), pad(time.getDate())].join('-')
  const clock = [time.getHours(), time.getMinutes(), time.getSeconds()].map(pad).join(':')
  return `${day} ${clock}`
}

/** Who did it, in a word. */
export function callerText(caller: Caller | undefined): string {
  if (caller === undefined) return '-'
  if (caller.kind === 'system') return 'system'
  return caller.kind === 'context' ? caller.context : `${caller.context}/${caller.pid}`
}
