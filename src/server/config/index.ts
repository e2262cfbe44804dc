/**
 * `config.toml` of a home: what it may say, read and checked as a whole, changed one key at a time.
 * It opens nothing: what the settings lead to is made by the namespace.
 * Invariant: whatever cannot be taken is told with file, line and what is known there; nothing is ignored.
 */
export {
  type Config,
  type EngineName,
  engines,
  type HostMount,
  type HostSettings,
  type MemoryMount,
  type MountSettings,
  mountBackends,
  type ToolSettings,
  type VaultMount,
} from './config.ts'
export { ConfigError, type ConfigProblem } from './config-error.ts'
export { assertConfig, ConfigFile, readConfig, setConfig } from './config-file.ts'
export { configuredSecrets } from './configured-secrets.ts'
export { assertDirectories, exposure, settledConfig } from './directories.ts'
export { BOUNDARY_VAULT, isInternalVault, keptFor, ZONES_VAULT } from './kept-vaults.ts'
export { mountProblem } from './mount-path.ts'
