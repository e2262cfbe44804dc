/**
 * The composition root: it puts homes, zones, mounts, tools and the guard together, as a configuration says.
 * Whoever embeds Coppice whole begins here; a part alone is found in its own folder.
 * Invariant: concrete backends are named here (`backends.ts`) and in no layer below.
 */
export { type OpenedFs, openBackend } from './backends.ts'
export {
  type Config,
  ConfigError,
  type ConfigProblem,
  type HostMount,
  type HostSettings,
  type MemoryMount,
  type MountSettings,
  readConfig,
  type ToolSettings,
  type VaultMount,
  ZONES_VAULT,
} from './config/index.ts'
export { Belongings } from './namespace/belongings.ts'
export { Namespace } from './namespace/namespace.ts'
export { type NamespaceOptions, openNamespace } from './namespace/open-namespace.ts'
export { openZones, Zones } from './namespace/open-zones.ts'
export type { HomeSettings } from './namespace/settings.ts'
export type { CommandSettings } from './namespace/workspace-commands.ts'
