import { join } from 'node:path'
import { AgentShelf } from '../../agents/index.ts'
import { HostFs } from '../../backends/host/index.ts'
import type { Home } from '../../backends/vault/index.ts'
import { Redactor, StepFiles } from '../../kernel/index.ts'
import { makePrivateDirectory } from '../../machine/index.ts'
import { type FileSystem, MemoryFs, MountTable, VfsError } from '../../vfs/index.ts'
import { configuredSecrets, readConfig } from '../config/index.ts'
import { type Belongings, openZones } from '../index.ts'
import { EventBook } from './event-book.ts'
import { ProcessRecords } from './process-records.ts'

export interface GroundOptions {
  readonly home: Home
  readonly env: Readonly<Record<string, string | undefined>>
  /** A directory with `agents` and `skills` that are always there. */
  readonly builtIn?: string | undefined
}

/** What of a home outlives every process, opened. */
export interface Ground {
  /** Of the home. */
  readonly directory: string
  /** What takes secrets out of all that is kept and shown. */
  readonly redactor: Redactor
  readonly records: ProcessRecords
  readonly steps: StepFiles
  readonly events: EventBook
  readonly scripts: FileSystem
  /** Agents and skills of the home itself. */
  readonly own: FileSystem
  readonly shelf: AgentShelf
  /** The zones, past the guard. */
  readonly store: FileSystem
}

/** EINVAL for a home in memory. */
export async function openGround(
  { home, env, builtIn }: GroundOptions,
  belongings: Belongings,
): Promise<Ground> {
  const directory = directoryOf(home)
  const place = async (name: string) => belongings.keep(await hostDirectory(join(directory, name)))
  const redactor = new Redactor(env)
  redactor.learn(configuredSecrets(await readConfig(directory), env))
  const steps = new StepFiles(join(directory, 'data', 'steps'), redactor)
  const records = ProcessRecords.open(join(directory, 'data', 'processes.jsonl'), {
    redactor,
    // The next program that opens the home removes what stays.
    onForget: ({ uuid }) => void steps.remove(uuid).catch(() => {}),
  })
  await steps.sweep(new Set(records.all().map(({ uuid }) => uuid)))
  const scripts = await place('scripts')
  const own = new MountTable({
    '/': new MemoryFs(),
    '/agents': await place('agents'),
    '/skills': await place('skills'),
  })
  const fixed =
    builtIn === undefined ? [] : [{ origin: 'built in', fs: belongings.keep(new HostFs(builtIn)) }]
  const shelf = new AgentShelf([{ origin: 'home', fs: own }, ...fixed])
  const { fs: store } = belongings.keep(await openZones({ home }))
  const events = new EventBook(redactor)
  belongings.onClose(async () => events[Symbol.dispose]())
  return { directory, redactor, records, steps, events, scripts, own, shelf, store }
}

function directoryOf({ path }: Home): string {
  if (path !== undefined) return path
  throw new VfsError('EINVAL', '/', { op: 'open', detail: 'a home in memory cannot run processes' })
}

async function hostDirectory(directory: string): Promise<HostFs> {
  makePrivateDirectory(directory)
  return new HostFs(directory)
}
