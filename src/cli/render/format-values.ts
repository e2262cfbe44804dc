import { escapeName, escapeText } from '../../text/index.ts'
import type { Caller } from '../../vfs/index.ts'
import type { Terminal } from '../framework/terminal.ts'

const KIBIBYTE = 1024
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB']

/** Escapes control characters on an interactive terminal; elsewhere returns the text unchanged. */
export function escapeForTerminal({ isInteractive }: Terminal, text: string): string {
  return isInteractive ? escapeText(text) : text
}

/** Formats bytes: `1.5 MiB`. */
export function formatBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10))
  const scaled = bytes / KIBIBYTE ** power
  return `${power === 0 ? scaled : scaled.toFixed(1)} ${UNITS[power]}`
}

/** Formats a count: `3 files`, `1 file`. */
export function formatCount(count: number, one: string, many = `${one}s`): string {
  return `${formatNumber(count)} ${count === 1 ? one : many}`
}

/** Formats a whole number with commas: `2,000`. A locale does the same, but takes many milliseconds to load. */
export function formatNumber(number: number): string {
  return String(number).replace(/\B(?=(?:\d{3})+$)/g, ',')
}

/** Formats the size of a fork's changes: `2 files +3 -1, 1 commit`. Lines are null if nobody counted them. */
export function formatForkSize({
  files,
  commits,
  lines,
}: {
  readonly files: number
  readonly commits: number
  readonly lines: { readonly added: number; readonly removed: number } | null
}): string {
  const counted = lines === null || files === 0 ? '' : ` +${lines.added} -${lines.removed}`
  return `${formatCount(files, 'file')}${counted}${commits === 0 ? '' : `, ${formatCount(commits, 'commit')}`}`
}

/** Formats a local time to the second: `2026-11-15 06:11:36`. */
export function formatTime(time: Date): string {
  const pad = (part: number) => String(part).padStart(2, '0')
  const day = [time.getFullYear(), pad(time.getMonth() + 1), pad(time.getDate())].join('-')
  const clock = [time.getHours(), time.getMinutes(), time.getSeconds()].map(pad).join(':')
  return `${day} ${clock}`
}

/** Formats a caller as one word. */
export function formatCaller(caller: Caller | undefined): string {
  if (caller === undefined) return '-'
  if (caller.kind === 'system') return 'system'
  return caller.kind === 'context' ? caller.context : `${caller.context}/${caller.pid}`
}

/** Forks that the line of a shared path names at most. */
const MAX_SHOWN_FORKS = 3

/** Formats a path that other forks change too. */
export function formatSharedPath({
  path,
  forks,
}: {
  readonly path: string
  readonly forks: readonly string[]
}): string {
  const more = forks.length > MAX_SHOWN_FORKS ? ', …' : ''
  return `  ${escapeName(path)} also in ${forks.slice(0, MAX_SHOWN_FORKS).join(', ')}${more}`
}
