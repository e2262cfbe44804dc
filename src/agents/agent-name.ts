import { VfsError } from '../vfs/index.ts'

const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/
const MAX_LENGTH = 64
const article = { agent: 'an agent', skill: 'a skill' } as const

/** Refuses an invalid name of an agent or a skill, by the rules of the Agent Skills format. EINVAL. */
export function assertName(kind: 'agent' | 'skill', name: string): void {
  if (isValidName(name)) return
  const detail = `the name of ${article[kind]} must be lower-case letters, digits and single hyphens in between, ${MAX_LENGTH} at most`
  throw new VfsError('EINVAL', name, { op: kind, detail })
}

export function isValidName(name: string): boolean {
  return name.length <= MAX_LENGTH && NAME.test(name)
}
