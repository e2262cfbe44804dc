import { getCutPosition } from '../text/character-cut.ts'
import { countNewlines } from '../text/text-slice.ts'
import type { CachedOutput } from './cached-output.ts'

const CHARACTERS_PER_TOKEN = 4

/** What a caller reads in place of an output that was kept: where it is, how much, how to look into it, how it begins. */
export function formatStub({ uri, tool }: CachedOutput, output: string, previewChars: number): string {
  const lines = countNewlines(output) + (output.endsWith('\n') ? 0 : 1)
  const tokens = Math.ceil(output.length / CHARACTERS_PER_TOKEN)
  const preview = cutPreview(output, previewChars)
  return [
    `The output of ${tool} is long and was kept as ${uri}`,
    `${formatCount(output.length, 'character')} (about ${formatCount(tokens, 'token')}), ${formatCount(lines, 'line')}. Look into it with:`,
    ...formatExamples(uri, lines),
    ...(preview === '' ? [] : ['', `It begins (${formatCount(preview.length, 'character')}):`, preview]),
  ].join('\n')
}

function formatExamples(uri: string, lines: number): string[] {
  const middle = Math.max(1, Math.ceil(lines / 2))
  const calls: readonly (readonly [tool: string, args: object])[] = [
    ['file_head', { path: uri, lines: 50 }],
    ['file_tail', { path: uri, lines: 50 }],
    ['file_lines', { path: uri, start: middle, end: Math.min(middle + 49, lines) }],
    ['file_grep', { path: uri, pattern: 'error' }],
  ]
  return calls.map(([tool, args]) => `  ${tool} ${JSON.stringify(args)}`)
}

/** The beginning, as many whole lines as there is room for; part of the first if there is no room for one. */
function cutPreview(output: string, previewChars: number): string {
  if (output.length <= previewChars) return output
  const newline = output.lastIndexOf('\n', previewChars)
  const whole = output.slice(0, Math.max(0, newline))
  return /\S/.test(whole) ? whole.replace(/\r$/, '') : output.slice(0, getCutPosition(output, previewChars))
}

function formatCount(number: number, thing: string): string {
  return `${number.toLocaleString('en-US')} ${thing}${number === 1 ? '' : 's'}`
}
