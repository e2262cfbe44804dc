import { getCutPosition } from '../text/character-cut.ts'
import { countNewlines } from '../text/text-slice.ts'
import type { CachedOutput } from './cached-output.ts'

const CHARACTERS_PER_TOKEN = 4
/** Lines that an example call requests. */
const EXAMPLE_LINES = 50

/** Share of a preview that shows the beginning: what was done. The rest shows the end: how it went. */
const HEAD_SHARE = 0.25

/** Formats the stub of a cached output: its URI, its size, how to read it, its beginning and its end. */
export function formatStub({ uri, tool }: CachedOutput, output: string, previewChars: number): string {
  const lines = countNewlines(output) + (output.endsWith('\n') ? 0 : 1)
  const tokens = Math.ceil(output.length / CHARACTERS_PER_TOKEN)
  const { head, tail } = cutPreview(output, previewChars)
  const middle = Math.min(countNewlines(head) + 1, lines)
  return [
    `The output of ${tool} is long; it is stored as ${uri}`,
    `${formatCount(output.length, 'character')} (about ${formatCount(tokens, 'token')}), ${formatCount(lines, 'line')}. Read it with:`,
    ...formatExamples(uri, middle, lines),
    ...formatPreview(head, output.slice(head.length, output.length - tail.length), tail),
  ].join('\n')
}

/** Formats example calls. Those for lines begin with the first one that the preview lacks. */
function formatExamples(uri: string, start: number, lines: number): string[] {
  const calls: readonly (readonly [tool: string, args: object])[] = [
    ['file_lines', { path: uri, start, end: Math.min(start + EXAMPLE_LINES - 1, lines) }],
    ['file_tail', { path: uri, lines: EXAMPLE_LINES }],
    ['file_grep', { path: uri, pattern: 'error' }],
  ]
  return calls.map(([tool, args]) => `  ${tool} ${JSON.stringify(args)}`)
}

function formatPreview(head: string, leftOut: string, tail: string): string[] {
  if (head + tail === '') return []
  const lines = countNewlines(leftOut)
  const size = formatCount(leftOut.length, 'character')
  const cut = `… (${lines === 0 ? '' : `${formatCount(lines, 'line')}, `}${size} left out here)`
  const parts = [head, leftOut === '' ? '' : cut, tail].filter((part) => part !== '')
  return ['', 'It begins and ends:', ...parts.map((part) => part.replace(/\r?\n$/, ''))]
}

/** Cuts the preview: whole lines where some fit, else parts of the first and the last line. */
function cutPreview(output: string, previewChars: number): { head: string; tail: string } {
  if (output.length <= previewChars) return { head: output, tail: '' }
  const headChars = Math.ceil(previewChars * HEAD_SHARE)
  const from = output.length - (previewChars - headChars)
  const lines = output.slice(0, output.lastIndexOf('\n', headChars - 1) + 1)
  const newline = output.indexOf('\n', from - 1)
  const whole = newline < 0 ? '' : output.slice(newline + 1)
  const start = getCutPosition(output, from)
  return {
    head: /\S/.test(lines) ? lines : output.slice(0, getCutPosition(output, headChars)),
    // A character that the limit splits is left out.
    tail: /\S/.test(whole) ? whole : output.slice(start === from ? from : start + 2),
  }
}

function formatCount(number: number, thing: string): string {
  return `${number.toLocaleString('en-US')} ${thing}${number === 1 ? '' : 's'}`
}
