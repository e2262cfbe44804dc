import type { Device, DeviceContext } from '../../kernel/index.ts'
import { operationDevice } from '../operation/index.ts'
import type { ListOrigins } from '../scanner/index.ts'
import { createCommitOperation, createProfileOperation } from './memory-commit.ts'
import { createRecallOperation, type PassageHistory, type Summarize } from './memory-recall.ts'
import { MemoryScope, type MemoryScopes, type OpenScope } from './memory-scope.ts'

export interface MemoryDeviceOptions {
  /** Where what is remembered is kept, for who asks: they may work on different projects. */
  getScopes(ctx: DeviceContext): MemoryScopes | Promise<MemoryScopes>
  /** What tools and pages returned to a process. What it writes of that is judged as theirs. */
  readonly listOrigins?: ListOrigins
  readonly history?: PassageHistory
  readonly summarize?: Summarize
}

/** The devices of memory, by their paths. */
export function memoryDevices({
  getScopes,
  listOrigins = () => [],
  history,
  summarize,
}: MemoryDeviceOptions): Readonly<Record<string, Device>> {
  const openScope: OpenScope = async (name, ctx) => new MemoryScope(name, (await getScopes(ctx))[name])
  const operations = {
    commit: createCommitOperation(openScope, listOrigins),
    recall: createRecallOperation(openScope, history, summarize),
    profile: createProfileOperation(openScope, listOrigins),
  }
  return Object.fromEntries(
    Object.entries(operations).map(([name, operation]) => {
      const path = `/dev/memory/${name}`
      return [path, operationDevice(path, `memory_${name}`, operation)]
    }),
  )
}
