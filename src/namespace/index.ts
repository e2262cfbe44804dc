/**
 * The composition root: combines homes, zones, mounts, tools and the guard by a configuration. Start here to embed
 * all of Coppice; each part has its own folder.
 * Invariant: `openBackend` has the only list of backends that a configuration can name.
 */

export {
  type Config,
  ConfigError,
  type ConfigProblem,
  type HostMountSettings,
  type HostSettings,
  type MemoryMountSettings,
  readConfig,
  type ToolSettings,
  type UserMountSettings,
  type VaultMountSettings,
  ZONES_VAULT,
} from '../config/index.ts'
export { type OpenedFs, openBackend } from './backends.ts'
export type { HomeSettings } from './home-settings.ts'
export type { Namespace } from './namespace.ts'
export { type DirectoryWorkspace, deleteFork, findForkDirectory } from './open-fork.ts'
export { type NamespaceOptions, openNamespace } from './open-namespace.ts'
export { openZones, type Zones } from './open-zones.ts'
export { viewFork } from './view-fork.ts'
export type { CommandSettings } from './workspace-commands.ts'
