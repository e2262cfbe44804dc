import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { HostFs } from '../backends/host/index.ts'
import type { Home } from '../backends/vault/index.ts'
import { makePrivateDirectory, PRIVATE_DIRECTORY_MODE } from '../machine/index.ts'
import { MemoryFs } from '../vfs/index.ts'
import type { OpenedFs } from './backends.ts'
import type { LazyHome } from './lazy-home.ts'

const CACHE_DIRECTORY = 'tool_cache'

/** Caches of homes in memory, shared by all namespaces of a home. */
const memoryCaches = new WeakMap<Home, MemoryFs>()

/**
 * Opens the cache of long tool outputs. It is not in the zones, whose history would keep expired outputs. It is a
 * private directory of the home, or in memory as the home is.
 */
export async function openToolCache(lazyHome: LazyHome): Promise<OpenedFs> {
  if (lazyHome.path === undefined) return getMemoryCache(await lazyHome.open())
  const directory = join(lazyHome.path, CACHE_DIRECTORY)
  makePrivateDirectory(directory)
  await chmod(directory, PRIVATE_DIRECTORY_MODE)
  return new HostFs(directory)
}

function getMemoryCache(home: Home): MemoryFs {
  const cache = memoryCaches.get(home) ?? new MemoryFs()
  memoryCaches.set(home, cache)
  return cache
}
