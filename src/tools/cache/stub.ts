import { getCutPosition } from '../text/character-cut.ts'
import { countNewlines } from '../text/text-slice.ts'
import type { CachedOutput } from './cached-output.ts'

const CHARACTERS_PER_TOKEN = 4
/** Lines that an example call requests. */
const EXAMPLE_LINES = 50

/** Formats the stub of a cached output: its URI, its size, how to read it, and its beginning. */
export function formatStub({ uri, tool }: CachedOutput, output: string, previewChars: number): string {
  const lines = countNewlines(output) + (output.endsWith('\n') ? 0 : 1)
  const tokens = Math.ceil(output.length / CHARACTERS_PER_TOKEN)
  const preview = cutPreview(output, previewChars)
  return [
    `The output of ${tool} is long; it is stored as ${uri}`,
    `${formatCount(output.length, 'character')} (about ${formatCount(tokens, 'token')}), ${formatCount(lines, 'line')}. Read it with:`,
    ...formatExamples(uri, lines),
    ...(preview === '' ? [] : ['', `It begins (${formatCount(preview.length, 'character')}):`, preview]),
  ].join('\n')
}

function formatExamples(uri: string, lines: number): string[] {
  const middle = Math.max(1, Math.ceil(lines / 2))
  const calls: readonly (readonly [tool: string, args: object])[] = [
    ['file_head', { path: uri, lines: EXAMPLE_LINES }],
    ['file_tail', { path: uri, lines: EXAMPLE_LINES }],
    ['file_lines', { path: uri, start: middle, end: Math.min(middle + EXAMPLE_LINES - 1, lines) }],
    ['file_grep', { path: uri, pattern: 'error' }],
  ]
  return calls.map(([tool, args]) => `  ${tool} ${JSON.stringify(args)}`)
}

/** Returns as many whole lines of the beginning as fit; if none does, a part of the first. */
function cutPreview(output: string, previewChars: number): string {
  if (output.length <= previewChars) return output
  const newline = output.lastIndexOf('\n', previewChars)
  const whole = output.slice(0, Math.max(0, newline))
  return /\S/.test(whole) ? whole.replace(/\r$/, '') : output.slice(0, getCutPosition(output, previewChars))
}

function formatCount(number: number, thing: string): string {
  return `${number.toLocaleString('en-US')} ${thing}${number === 1 ? '' : 's'}`
}
