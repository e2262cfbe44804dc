import type { Home, Vault } from '../../backends/vault/index.ts'
import type { Config, ConfiguredEngine } from '../../config/index.ts'
import type { CallContext } from '../../vfs/index.ts'

/** A home opened for one command, with its configuration. */
export interface OpenHome {
  readonly home: Home
  /** The directory of the home; for one in a database, that of this user's settings for it. */
  readonly path: string
  /** The home as messages name it: its directory, or its URL without a password. */
  readonly label: string
  readonly config: Config
  /** Caller and abort signal for all operations. */
  readonly ctx: CallContext
}

export interface OpenVault extends OpenHome {
  readonly vault: Vault
}

export interface HomeAccess {
  /** Creates the home if it is missing, on this engine if one is given. */
  readonly create?: boolean
  readonly engine?: ConfiguredEngine | undefined
  /** Opens even a store that is too damaged for its engine. */
  readonly toSalvage?: boolean
}
