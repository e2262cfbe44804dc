import type { Device, DeviceContext } from '../../kernel/index.ts'
import { operationDevice } from '../operation/index.ts'
import type { OriginsOf } from '../scanner/index.ts'
import { commitOperation, profileOperation } from './commit.ts'
import { MemoryScope, type MemoryScopes, type ScopeOf } from './memory-scope.ts'
import { type History, recallOperation, type Summarize } from './recall.ts'

export interface MemoryOptions {
  /** Where what is remembered is kept, for who asks: they may work on different projects. */
  scopesOf(ctx: DeviceContext): MemoryScopes | Promise<MemoryScopes>
  /** What tools and pages returned to a process. What it writes of that is judged as theirs. */
  readonly originsOf?: OriginsOf
  readonly history?: History
  readonly summarize?: Summarize
}

/** The devices of memory, by their paths. */
export function memoryDevices({
  scopesOf,
  originsOf = () => [],
  history,
  summarize,
}: MemoryOptions): Readonly<Record<string, Device>> {
  const scopeOf: ScopeOf = async (name, ctx) => new MemoryScope(name, (await scopesOf(ctx))[name])
  const operations = {
    commit: commitOperation(scopeOf, originsOf),
    recall: recallOperation(scopeOf, history, summarize),
    profile: profileOperation(scopeOf, originsOf),
  }
  return Object.fromEntries(
    Object.entries(operations).map(([name, operation]) => {
      const path = `/dev/memory/${name}`
      return [path, operationDevice(path, `memory_${name}`, operation)]
    }),
  )
}
