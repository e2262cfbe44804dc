import { mkdir, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import {
  type Durability,
  type Engine,
  LevelEngine,
  LmdbEngine,
  MemoryEngine,
  SqliteEngine,
} from '../../store/index.ts'
import { VfsError } from '../../vfs/index.ts'

/** What can keep a home's bytes. `lmdb` and `level` need a package: `lmdb`, `classic-level`. */
export const engineNames = ['sqlite', 'lmdb', 'level', 'memory'] as const

export type EngineName = (typeof engineNames)[number]

export interface HomeOptions {
  /** The directory of the home; made if it is missing. In memory when absent. */
  readonly path?: string
  /** `sqlite` when absent, or `memory` without a path; or an engine of your own, which the home then closes. */
  readonly engine?: EngineName | Engine
  readonly durability?: Durability
}

/** A home on disk, as any process of this machine can open it. */
export interface HomePlace extends Pick<HomeOptions, 'durability'> {
  readonly path: string
  readonly engine?: EngineName
}

export async function openEngine({ path, engine, durability = 'process' }: HomeOptions): Promise<Engine> {
  if (typeof engine === 'object') return engine
  if (engine !== undefined && !engineNames.includes(engine)) {
    const detail = `there is no engine '${engine}'; known: ${engineNames.join(', ')}`
    throw new VfsError('EINVAL', path ?? '/', { op: 'open', detail })
  }
  if (engine === 'memory' || (path === undefined && engine === undefined)) return new MemoryEngine()
  if (path === undefined) {
    throw new VfsError('EINVAL', '/', { op: 'open', detail: `the engine '${engine}' needs a path` })
  }
  await makeDirectory(path)
  if (engine === 'lmdb') return LmdbEngine.open({ directory: join(path, 'store.lmdb'), durability })
  if (engine === 'level') return LevelEngine.open({ directory: join(path, 'store.level') })
  return new SqliteEngine({ file: join(path, 'store.db'), durability })
}

/** With all above it that are missing. Node's own way never ends where nothing can be made, as below `/proc`. */
async function makeDirectory(path: string): Promise<void> {
  const at = resolve(path)
  if (await isDirectory(at)) return
  if (!(await isDirectory(dirname(at)))) await makeDirectory(dirname(at))
  try {
    await mkdir(at)
  } catch (error) {
    // Somebody else may have made it meanwhile.
    if (!(await isDirectory(at))) throw error
  }
}

async function isDirectory(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found?.isDirectory() === true
}
