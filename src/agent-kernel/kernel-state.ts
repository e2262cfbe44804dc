import { join } from 'node:path'
import { AgentCatalog } from '../agents/index.ts'
import { HostFs } from '../backends/host/index.ts'
import type { Home } from '../backends/vault/index.ts'
import { listConfiguredSecrets, readConfig } from '../config/index.ts'
import { Redactor, StepFiles } from '../kernel/index.ts'
import { type CleanupStack, makePrivateDirectory } from '../machine/index.ts'
import { openZones } from '../namespace/index.ts'
import { type FileSystem, MemoryFs, MountTable, VfsError } from '../vfs/index.ts'
import { EventHistory } from './event-history.ts'
import { ProcessRecords } from './process-records.ts'

export interface KernelStateOptions {
  readonly home: Home
  /** Variables with keys of models and the PATH of their programs; none when absent. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Directory with built-in `agents` and `skills`. */
  readonly builtIn?: string | undefined
}

/** Persistent state of a home, opened. */
export interface KernelState {
  /** Directory of the home. */
  readonly directory: string
  /** Redacts secrets from everything stored and shown. */
  readonly redactor: Redactor
  readonly records: ProcessRecords
  readonly steps: StepFiles
  readonly events: EventHistory
  readonly scripts: FileSystem
  /** Agents and skills of the home itself. */
  readonly own: FileSystem
  readonly catalog: AgentCatalog
  /** The zones, without the guard. */
  readonly store: FileSystem
}

/** Opens the state. Throws EINVAL for a home in memory. */
export async function openKernelState(
  { home, env = {}, builtIn }: KernelStateOptions,
  cleanup: CleanupStack,
): Promise<KernelState> {
  const directory = getHomeDirectory(home)
  const openDirectory = async (name: string) => cleanup.use(await openPrivateDirectory(join(directory, name)))
  const redactor = new Redactor(env)
  redactor.addSecrets(listConfiguredSecrets(await readConfig(directory), env))
  const steps = new StepFiles(join(directory, 'data', 'steps'), redactor)
  const records = ProcessRecords.open(join(directory, 'data', 'processes.jsonl'), {
    redactor,
    // The next program that opens the home removes leftovers.
    onForget: ({ uuid }) => void steps.remove(uuid).catch(() => {}),
  })
  await steps.sweep(new Set(records.all().map(({ uuid }) => uuid)))
  const scripts = await openDirectory('scripts')
  const own = new MountTable({
    '/': new MemoryFs(),
    '/agents': await openDirectory('agents'),
    '/skills': await openDirectory('skills'),
  })
  const fixed = builtIn === undefined ? [] : [{ origin: 'built in', fs: cleanup.use(new HostFs(builtIn)) }]
  const catalog = new AgentCatalog([{ origin: 'home', fs: own }, ...fixed])
  const { fs: store } = cleanup.use(await openZones({ home }))
  const events = new EventHistory(redactor)
  cleanup.defer(async () => events[Symbol.dispose]())
  return { directory, redactor, records, steps, events, scripts, own, catalog, store }
}

function getHomeDirectory({ path }: Home): string {
  if (path !== undefined) return path
  throw new VfsError('EINVAL', '/', { op: 'open', detail: 'a home in memory cannot run processes' })
}

async function openPrivateDirectory(directory: string): Promise<HostFs> {
  makePrivateDirectory(directory)
  return new HostFs(directory)
}
