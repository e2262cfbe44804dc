import { CleanupStack } from '../machine/index.ts'
import { type OutputCache, TOOL_CACHE } from '../tools/index.ts'
import { type FileSystem, MountTable } from '../vfs/index.ts'
import { type HomeSettings, resolveSettings } from './home-settings.ts'
import { LazyHome } from './lazy-home.ts'
import { createOutputCache, openToolCache } from './tool-cache.ts'
import { createContext, listContexts, openZoneFiles } from './zone-files.ts'

/** Zones of a home without a context, for managing contexts and cached tool output. */
export class Zones implements AsyncDisposable {
  /** The zones without the guard, for the system and for reading. */
  readonly fs: FileSystem
  readonly cache: OutputCache
  readonly #cleanup: CleanupStack

  constructor(fs: FileSystem, cache: OutputCache, cleanup: CleanupStack) {
    this.fs = fs
    this.cache = cache
    this.#cleanup = cleanup
  }

  /** Lists the names of all contexts, sorted. */
  contexts(): Promise<string[]> {
    return listContexts(this.fs)
  }

  /** Creates the home of a context and reports whether it is new. Throws EINVAL for a reserved name. */
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

/** Opens the zones of a home, and creates missing ones. ConfigError if the configuration is invalid. */
export async function openZones(settings: HomeSettings): Promise<Zones> {
  const { config } = await resolveSettings(settings)
  const lazyHome = new LazyHome(settings.home, config)
  const cleanup = new CleanupStack()
  cleanup.defer(() => lazyHome.close())
  try {
    const zones = cleanup.use(await openZoneFiles(config, lazyHome))
    const fs = new MountTable({ '/': zones, [TOOL_CACHE]: cleanup.use(await openToolCache(lazyHome)) })
    return new Zones(fs, createOutputCache(fs, config, lazyHome), cleanup)
  } catch (error) {
    await cleanup.close()
    throw error
  }
}
