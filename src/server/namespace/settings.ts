import { USUALLY_PROTECTED } from '../../access/index.ts'
import type { Home } from '../../backends/vault/index.ts'
import type { OutputCacheOptions } from '../../tools/index.ts'
import {
  assertConfig,
  assertDirectories,
  type Config,
  ConfigFile,
  type HostSettings,
  settledConfig,
  type ToolSettings,
} from '../config/index.ts'

/** Which home, and what is said of it. */
export interface HomeSettings {
  /** The home, or its directory; one given as an object is not closed with what is opened on it. */
  readonly home: Home | string
  /** In place of the `config.toml` of the home's directory. Directories in it are absolute. */
  readonly config?: Config
}

/** What is configured, and the file it came from if it did. ConfigError. */
export async function settingsOf({
  home,
  config,
}: HomeSettings): Promise<{ readonly config: Config; readonly source?: ConfigFile }> {
  const path = typeof home === 'string' ? home : home.path
  if (config !== undefined) await assertConfig(config)
  if (config !== undefined || path === undefined) return { config: config ?? {} }
  const source = await ConfigFile.read(path)
  await assertDirectories(source)
  return { config: settledConfig(source), source }
}

/** What is never written in directories of this machine. */
export function protectedIn({
  protect = [],
  protect_usual: isUsual = true,
}: HostSettings = {}): readonly string[] {
  return isUsual ? [...USUALLY_PROTECTED, ...protect] : protect
}

/** The names of the contract as the cache's own. */
export function cacheOptions({
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
