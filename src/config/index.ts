/**
 * `config.toml` of a home: reads and validates it as a whole, and changes one key at a time. It opens nothing: the
 * namespace opens what the settings name.
 * Invariant: every invalid setting is reported with file, line and the known names; nothing is ignored.
 */
export {
  type Config,
  type ConfiguredEngine,
  engines,
  type HostMountSettings,
  type HostSettings,
  type MemoryMountSettings,
  mountBackends,
  type ToolSettings,
  type UserMountSettings,
  type VaultMountSettings,
} from './config.ts'
export { assertDirectories, findExposure, resolveConfigPaths } from './config-directories.ts'
export { ConfigError, type ConfigProblem } from './config-error.ts'
export { assertConfig, ConfigFile, readConfig, setConfig } from './config-file.ts'
export { listConfiguredSecrets } from './configured-secrets.ts'
export { replaceCurrentVault } from './current-vault.ts'
export { type KeyLines, scanKeyLines } from './key-lines.ts'
export { findMountProblem } from './mount-path.ts'
export { BOUNDARY_VAULT, findReservedPurpose, isInternalVault, ZONES_VAULT } from './reserved-vaults.ts'
