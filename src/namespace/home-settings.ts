import { DEFAULT_PROTECTED_NAMES } from '../access/index.ts'
import type { Home } from '../backends/vault/index.ts'
import {
  assertConfig,
  assertDirectories,
  type Config,
  ConfigFile,
  type HostSettings,
  resolveConfigPaths,
  type ToolSettings,
} from '../config/index.ts'
import type { OutputCacheOptions } from '../tools/index.ts'

/** A home and its configuration. */
export interface HomeSettings {
  /** The home, or its directory. The caller closes a home given as an object. */
  readonly home: Home | string
  /** Used in place of the `config.toml` of the home. Its directories must be absolute. */
  readonly config?: Config
}

/**
 * Returns the given configuration, or reads that of the home with its file. A home in memory has an empty one.
 * ConfigError if it is invalid.
 */
export async function resolveSettings({
  home,
  config,
}: HomeSettings): Promise<{ readonly config: Config; readonly source?: ConfigFile }> {
  const path = typeof home === 'string' ? home : home.path
  if (config !== undefined) await assertConfig(config)
  if (config !== undefined || path === undefined) return { config: config ?? {} }
  const source = await ConfigFile.read(path)
  await assertDirectories(source)
  return { config: resolveConfigPaths(source), source }
}

/** Lists names and globs that agents never write in directories of this machine. */
export function listProtectedNames({
  protect = [],
  protect_usual: isUsual = true,
}: HostSettings = {}): readonly string[] {
  return isUsual ? [...DEFAULT_PROTECTED_NAMES, ...protect] : protect
}

/** Converts settings of the configuration to options of the cache. */
export function toCacheOptions({
  tool_output_cache_threshold: threshold,
  tool_cache_preview_chars: previewChars,
  tool_cache_max_age_days: maxAgeDays,
  tool_cache_max_bytes: maxBytes,
}: ToolSettings = {}): OutputCacheOptions {
  return {
    ...(threshold !== undefined && { threshold }),
    ...(previewChars !== undefined && { previewChars }),
    ...(maxAgeDays !== undefined && { maxAgeDays }),
    ...(maxBytes !== undefined && { maxBytes }),
  }
}
