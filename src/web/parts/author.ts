import type { WebAuthor } from '../../web-api/index.ts'

/** Formats an author for people: a name, a process, the system. */
export function formatAuthor({ kind, context, pid }: WebAuthor): string {
  if (kind === 'process') return pid === null ? context || 'a process' : `process ${pid}`
  if (kind === 'person') return context || 'you'
  return kind === 'system' ? 'system' : context || 'unknown'
}

/** Colours of the style sheet for a person, for processes, and for anybody else. */
const PERSON = 0
const PROCESSES = [2, 1, 3, 4, 6, 5] as const
const OTHERS = 7

/** Returns the number of an author's colour: the same for the same author, everywhere. */
export function pickColour({ kind, pid }: WebAuthor): number {
  if (kind === 'person') return PERSON
  if (kind !== 'process' || pid === null) return OTHERS
  return PROCESSES[pid % PROCESSES.length] ?? OTHERS
}
