import type { Device, DeviceContext } from '../../kernel/index.ts'
import { operationDevice } from '../operation/index.ts'
import type { ListOrigins } from '../scanner/index.ts'
import { createCommitOperation, createProfileOperation } from './memory-commit.ts'
import { createRecallOperation, type PassageHistory, type Summarize } from './memory-recall.ts'
import { MemoryScope, type MemoryScopes, type OpenScope } from './memory-scope.ts'

/** Options of `memoryDevices`. */
export interface MemoryDeviceOptions {
  /** Returns the scopes for a caller: processes may work on different projects. */
  getScopes(ctx: DeviceContext): MemoryScopes | Promise<MemoryScopes>
  /** Texts that tools and pages returned to a process. The scanner treats what repeats them as foreign. */
  readonly listOrigins?: ListOrigins
  readonly history?: PassageHistory
  readonly summarize?: Summarize
}

/** Creates the memory devices, by path. */
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
