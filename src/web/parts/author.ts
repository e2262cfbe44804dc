import type { WebAuthor } from '../../web-api/index.ts'

/** Number of colours that the style sheet has for authors. */
const COLOURS = 8

/** Formats an author for people: a name, a process, the system. */
export function formatAuthor({ kind, context, pid }: WebAuthor): string {
  if (kind === 'process') return pid === null ? context || 'a process' : `process ${pid}`
  if (kind === 'person') return context || 'you'
  return kind === 'system' ? 'system' : context || 'unknown'
}

/** Returns the number of an author's colour: the same for the same author, everywhere. */
export function pickColour(author: WebAuthor): number {
  const name = `${author.kind} ${author.context} ${author.pid ?? ''}`
  let sum = 7
  for (const character of name) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 9973
  return sum % COLOURS
}
