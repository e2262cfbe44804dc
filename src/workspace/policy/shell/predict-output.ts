import type { Command } from 'unbash'
import { UNKNOWN } from './unknown.ts'
import type { Variables } from './variables.ts'
import { expand } from './word.ts'

/**
 * Returns the output of `echo` and `printf`, as far as it is known. Escapes of `echo`, and formats other than `%s`, are
 * not expanded.
 */
export function predictOutput(node: Command, variables: Variables): string {
  if (node.name === undefined || node.redirects.length > 0) return UNKNOWN
  const [name, ...args] = [node.name, ...node.args].flatMap((word) =>
    word.type === 'Word' ? expand(word, variables) : UNKNOWN,
  )
  if (name === 'echo') return formatEcho(args)
  return name === 'printf' ? formatPrintf(args) : UNKNOWN
}

function formatEcho(args: readonly string[]): string {
  const text = args.filter((arg) => !/^-[neE]+$/.test(arg)).join(' ')
  // On a line of its own, so that the rest reads as it stands.
  return text.includes('\\') ? `${text}\n${UNKNOWN}` : text
}

/** Fills a format of plain text and `%s` repeatedly, until no words are left. */
function formatPrintf([format = '', ...words]: readonly string[]): string {
  const text = format.replaceAll('\\n', '\n').replaceAll('\\t', '\t')
  const pieces = text.split('%s')
  if (pieces.some((piece) => /[\\%]/.test(piece)) || format.startsWith('-')) return UNKNOWN
  if (pieces.length === 1) return text
  const left = [...words]
  let filled = ''
  do filled += pieces.reduce((before, piece) => `${before}${left.shift() ?? ''}${piece}`)
  while (left.length > 0)
  return filled
}
