import { OutputCache, TOOL_CACHE } from '../tools/index.ts'
import { type FileSystem, MountTable } from '../vfs/index.ts'
import { CleanupStack } from './cleanup-stack.ts'
import { type HomeSettings, resolveSettings, toCacheOptions } from './home-settings.ts'
import { LazyHome } from './lazy-home.ts'
import { openToolCache } from './tool-cache.ts'
import { createContext, listContexts, openZoneFiles } from './zone-files.ts'

/** The zones of a home with nobody at work in them, to look after contexts and what tools have said at length. */
export class Zones implements AsyncDisposable {
  /** Not guarded: for the system, and for looking. */
  readonly fs: FileSystem
  readonly cache: OutputCache
  readonly #cleanup: CleanupStack

  constructor(fs: FileSystem, cache: OutputCache, belongings: CleanupStack) {
    this.fs = fs
    this.cache = cache
    this.#cleanup = belongings
  }

  /** The names of all contexts, in order. */
  contexts(): Promise<string[]> {
    return listContexts(this.fs)
  }

  /** Gives a context its home; whether that is new. EINVAL for a name nobody may have. */
  createContext(name: string): Promise<boolean> {
    return createContext(this.fs, name)
  }

  close(): Promise<void> {
    return this.#cleanup.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** Opens the zones of a home, made if they are missing. ConfigError. */
export async function openZones(settings: HomeSettings): Promise<Zones> {
  const { config } = await resolveSettings(settings)
  const door = new LazyHome(settings.home, config)
  const belongings = new CleanupStack()
  belongings.defer(() => door.close())
  try {
    const zones = belongings.use(await openZoneFiles(config, door))
    const fs = new MountTable({ '/': zones, [TOOL_CACHE]: belongings.use(await openToolCache(door)) })
    return new Zones(fs, new OutputCache(fs, toCacheOptions(config.tools)), belongings)
  } catch (error) {
    await belongings.close()
    throw error
  }
}
