/** Engines of a home; the first is the default. */
export const engines = ['sqlite', 'lmdb', 'level'] as const
export type ConfiguredEngine = (typeof engines)[number]

export const durabilities = ['full', 'process', 'relaxed'] as const

/** Storage of the zones: in a vault, so that they fork and keep their history, or in a plain directory. */
export const storageModes = ['vault', 'local'] as const

export const accessModes = ['read', 'write'] as const

/** Backends that can be mounted by name. `src/namespace/backends.ts` opens them. */
export const mountBackends = ['host', 'memory', 'vault'] as const

interface MountAccessSettings {
  /** Access of contexts; `read` when absent. */
  readonly access?: (typeof accessModes)[number]
}

/** A directory of this machine. */
export interface HostMountSettings extends MountAccessSettings {
  readonly backend: 'host'
  /** Absolute, or relative to the home's directory. */
  readonly directory: string
}

/** Files in memory, until the namespace is closed. */
export interface MemoryMountSettings extends MountAccessSettings {
  readonly backend: 'memory'
}

/** Another vault of the same home, now or at a checkpoint. */
export interface VaultMountSettings extends MountAccessSettings {
  readonly backend: 'vault'
  readonly vault: string
  readonly at?: string
}

/** A mount that the configuration adds. */
export type UserMountSettings = HostMountSettings | MemoryMountSettings | VaultMountSettings

/** Cache settings for tool output, by the names of the contract. */
export interface ToolSettings {
  readonly tool_output_cache_threshold?: number
  readonly tool_cache_preview_chars?: number
  readonly tool_cache_max_age_days?: number
  readonly tool_cache_max_bytes?: number
}

/** Files of this machine that tools may use. */
export interface HostSettings {
  /** Directories, absolute or relative to the home's; none when absent. */
  readonly allow?: readonly string[]
  /** Names and globs that tools never write, there and in mounted directories, in addition to the default ones. */
  readonly protect?: readonly string[]
  /** True to protect the usual names too, the default. */
  readonly protect_usual?: boolean
}

/** Web search of processes. */
interface WebSettings {
  /** An endpoint that answers `?q=…&format=json` as SearXNG does; it may be on this machine. */
  readonly search_url?: string
  /** Environment variable of the daemon with the token for the endpoint. */
  readonly search_token_env?: string
}

/** Defaults of processes. An agent and the options of a spawn override them. */
interface ProcessSettings {
  readonly provider?: string
  readonly model?: string
  readonly max_steps?: number
  /** Limit in tokens; 0 for none. */
  readonly budget?: number
  /** Time for one response of a model. */
  readonly timeout_seconds?: number
  /** Time for attempts after a temporary failure of a model. Then the process is paused; with 0 it fails. */
  readonly retry_seconds?: number
  /** Time for which a question waits for an answer. */
  readonly question_seconds?: number
  /** Modules with further devices, providers and tools, absolute or relative to the home. */
  readonly extensions?: readonly string[]
}

/** Files of projects whose values commands do not see. */
interface SecretSettings {
  /** Names and globs, in addition to the usual ones; `!` before one excludes it. */
  readonly mask?: readonly string[]
  /** True to mask the usual files too, the default. */
  readonly mask_usual?: boolean
  /** True to mask them for agents, the default. */
  readonly mask_agents?: boolean
  /** True to mask them for commands that a person types. */
  readonly mask_commands?: boolean
  /** Hosts to whose requests the proxy adds the value of a masked key, by key. */
  readonly inject?: Readonly<Record<string, readonly string[]>>
}

/** Files of a project that `coppice hook` records. */
interface UndoConfig {
  /** Patterns as in `.gitignore` of paths that are not recorded, instead of the usual ones. */
  readonly exclude?: readonly string[]
  /** Size up to which ignored files are recorded. */
  readonly max_ignored_bytes?: number
  /** True if hooks start a watcher for large directories, the default. */
  readonly watch?: boolean
}

/** Settings of a home's `config.toml`. */
export interface Config {
  /** Default vault of commands. */
  readonly vault?: string
  readonly engine?: ConfiguredEngine
  readonly durability?: (typeof durabilities)[number]
  readonly vfs?: { readonly backend?: (typeof storageModes)[number] }
  /** User mounts by their path in the namespace. */
  readonly mounts?: Readonly<Record<string, UserMountSettings>>
  readonly tools?: ToolSettings
  readonly host?: HostSettings
  readonly web?: WebSettings
  readonly secrets?: SecretSettings
  readonly undo?: UndoConfig
  readonly processes?: ProcessSettings
}
