import { characterCut } from '../text/character-cut.ts'
import { countNewlines } from '../text/text-slice.ts'
import type { CachedOutput } from './cached-output.ts'

const CHARACTERS_PER_TOKEN = 4

/** What a caller reads in place of an output that was kept: where it is, how much, how to look into it, how it begins. */
export function stubOf({ uri, tool }: CachedOutput, output: string, previewChars: number): string {
  const lines = countNewlines(output) + (output.endsWith('\n') ? 0 : 1)
  const tokens = Math.ceil(output.length / CHARACTERS_PER_TOKEN)
  const preview = previewOf(output, previewChars)
  return [
    `The output of ${tool} is long and was kept as ${uri}`,
    `${count(output.length, 'character')} (about ${count(tokens, 'token')}), ${count(lines, 'line')}. Look into it with:`,
    ...examples(uri, lines),
    ...(preview === '' ? [] : ['', `It begins (${count(preview.length, 'character')}):`, preview]),
  ].join('\n')
}

function examples(uri: string, lines: number): string[] {
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
function previewOf(output: string, previewChars: number): string {
  if (output.length <= previewChars) return output
  const newline = output.lastIndexOf('\n', previewChars)
  const whole = output.slice(0, Math.max(0, newline))
  return /\S/.test(whole) ? whole.replace(/\r$/, '') : output.slice(0, characterCut(output, previewChars))
}

function count(number: number, thing: string): string {
  return `${number.toLocaleString('en-US')} ${thing}${number === 1 ? '' : 's'}`
}
