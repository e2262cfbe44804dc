import type { Device } from '../../kernel/index.ts'
import { operationDevice } from '../operation/index.ts'
import type { OriginsOf } from '../scanner/index.ts'
import { commitOperation, profileOperation } from './commit.ts'
import { MemoryScope, type MemoryScopes } from './memory-scope.ts'
import { type History, recallOperation, type Summarize } from './recall.ts'

export interface MemoryOptions {
  readonly scopes: MemoryScopes
  /** What tools and pages returned to a process. What it writes of that is judged as theirs. */
  readonly originsOf?: OriginsOf
  readonly history?: History
  readonly summarize?: Summarize
}

/** The devices of memory, by their paths. */
export function memoryDevices({
  scopes,
  originsOf = () => [],
  history,
  summarize,
}: MemoryOptions): Readonly<Record<string, Device>> {
  const memory = new MemoryScope('memory', scopes.memory)
  const global_memory = new MemoryScope('global_memory', scopes.global_memory)
  const user = new MemoryScope('user', scopes.user)
  const operations = {
    commit: commitOperation({ memory, global_memory }, originsOf),
    recall: recallOperation([memory, global_memory, user], history, summarize),
    profile: profileOperation(user, originsOf),
  }
  return Object.fromEntries(
    Object.entries(operations).map(([name, operation]) => {
      const path = `/dev/memory/${name}`
      return [path, operationDevice(path, `memory_${name}`, operation)]
    }),
  )
}
