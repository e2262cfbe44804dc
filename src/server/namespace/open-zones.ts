import { OutputCache, TOOL_CACHE } from '../../tools/index.ts'
import { type FileSystem, MountTable } from '../../vfs/index.ts'
import { Belongings } from './belongings.ts'
import { HomeDoor } from './home-door.ts'
import { cacheOptions, type HomeSettings, settingsOf } from './settings.ts'
import { openToolCache } from './tool-cache.ts'
import { contextsIn, makeContext, zonesOf } from './zones.ts'

/** The zones of a home with nobody at work in them, to look after contexts and what tools have said at length. */
export class Zones implements AsyncDisposable {
  /** Not guarded: for the system, and for looking. */
  readonly fs: FileSystem
  readonly cache: OutputCache
  readonly #belongings: Belongings

  constructor(fs: FileSystem, cache: OutputCache, belongings: Belongings) {
    this.fs = fs
    this.cache = cache
    this.#belongings = belongings
  }

  /** The names of all contexts, in order. */
  contexts(): Promise<string[]> {
    return contextsIn(this.fs)
  }

  /** Gives a context its home; whether that is new. EINVAL for a name nobody may have. */
  createContext(name: string): Promise<boolean> {
    return makeContext(this.fs, name)
  }

  close(): Promise<void> {
    return this.#belongings.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** Opens the zones of a home, made if they are missing. ConfigError. */
export async function openZones(settings: HomeSettings): Promise<Zones> {
  const { config } = await settingsOf(settings)
  const door = new HomeDoor(settings.home, config)
  const belongings = new Belongings()
  belongings.onClose(() => door.close())
  try {
    const zones = belongings.keep(await zonesOf(config, door))
    const fs = new MountTable({ '/': zones, [TOOL_CACHE]: belongings.keep(await openToolCache(door)) })
    return new Zones(fs, new OutputCache(fs, cacheOptions(config.tools)), belongings)
  } catch (error) {
    await belongings.close()
    throw error
  }
}
