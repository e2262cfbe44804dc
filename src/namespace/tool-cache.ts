import { chmodSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { HostFs } from '../backends/host/index.ts'
import type { Home } from '../backends/vault/index.ts'
import type { Config } from '../config/index.ts'
import { isOpenToOthers, makePrivateDirectory, PRIVATE_DIRECTORY_MODE } from '../machine/index.ts'
import { CacheUsage, OutputCache } from '../tools/index.ts'
import { type FileSystem, MemoryFs } from '../vfs/index.ts'
import type { OpenedFs } from './backends.ts'
import { toCacheOptions } from './home-settings.ts'
import type { LazyHome } from './lazy-home.ts'

const CACHE_DIRECTORY = 'tool_cache'

/** Usage of the caches of homes, shared by all namespaces of a home. */
const usages = new WeakMap<object, CacheUsage>()

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
  if (isOpenToOthers(statSync(directory))) chmodSync(directory, PRIVATE_DIRECTORY_MODE)
  // As durable as the steps that refer to an output: syncing each one would take longer than the call.
  return new HostFs(directory, { durability: 'process' })
}

/** Creates the cache of a namespace, whose file system has the directory of the cache. */
export function createOutputCache(fs: FileSystem, { tools }: Config, { identity }: LazyHome): OutputCache {
  const usage = usages.get(identity) ?? new CacheUsage()
  usages.set(identity, usage)
  return new OutputCache(fs, { ...toCacheOptions(tools), usage })
}

function getMemoryCache(home: Home): MemoryFs {
  const cache = memoryCaches.get(home) ?? new MemoryFs()
  memoryCaches.set(home, cache)
  return cache
}
