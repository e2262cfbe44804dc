import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { HostFs } from '../../backends/host/index.ts'
import type { Home } from '../../backends/vault/index.ts'
import { makePrivateDirectory, PRIVATE_DIRECTORY } from '../../machine/index.ts'
import { MemoryFs } from '../../vfs/index.ts'
import type { OpenedFs } from '../backends.ts'
import type { HomeDoor } from './home-door.ts'

const CACHE_DIRECTORY = 'tool_cache'

/** The outputs of homes in memory, which all namespaces of one share. */
const inMemory = new WeakMap<Home, MemoryFs>()

/**
 * Opens where long outputs of tools are kept. Not among the zones, whose history would keep what has expired: plain
 * files in the directory of the home, for its owner alone, or in memory as the home is.
 */
export async function openToolCache(door: HomeDoor): Promise<OpenedFs> {
  if (door.path === undefined) return cacheInMemory(await door.home())
  const directory = join(door.path, CACHE_DIRECTORY)
  makePrivateDirectory(directory)
  await chmod(directory, PRIVATE_DIRECTORY)
  return new HostFs(directory)
}

function cacheInMemory(home: Home): MemoryFs {
  const cache = inMemory.get(home) ?? new MemoryFs()
  inMemory.set(home, cache)
  return cache
}
