import type { SyntaxNode, Word } from 'unbash'

/** True for `x=$((y + 1))`, `x=${#y}` and `{1..9}`, which are numbers. */
export function isNumberWord({ parts, value }: Word): boolean {
  if (parts === undefined) return /^[-+]?\d+$/.test(value)
  const [part, ...others] = parts
  if (part === undefined || others.length > 0) return false
  if (part.type === 'BraceExpansion') return /^\{-?\d+\.\.-?\d+(?:\.\.\d+)?\}$/.test(part.text)
  if (part.type === 'ParameterExpansion') return part.prefix === '#'
  return part.type === 'ArithmeticExpansion'
}

/** True if a node gives its variable a number: a loop over numbers, an expression, a descriptor. */
export function givesNumber(node: SyntaxNode): boolean {
  if (node.type === 'For') return node.wordlist?.every(isNumberWord) ?? false
  return node.type.startsWith('Arithmetic') || node.type === 'FileDescriptorVariable'
}
