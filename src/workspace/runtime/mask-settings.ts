import type { HostRule } from '../../network/index.ts'
import { type SecretFiles, SecretMask } from '../../secrets/index.ts'
import { ensureSecretKey } from '../link/index.ts'

/** Files whose values a command does not see. */
export interface MaskChoice {
  readonly files: SecretFiles
  /** Hosts by the key of a value. The proxy puts the value into the headers of requests to them. */
  readonly inject?: ReadonlyMap<string, readonly HostRule[]> | undefined
}

/** The files of projects whose values commands do not see, and the placeholders for them. */
export interface MaskSettings {
  readonly files: SecretFiles
  /** Creates the placeholders of a project. */
  createMask(scope: string): SecretMask
  /** Secrets that the proxy puts into requests; none when absent. */
  readonly inject?: InjectSettings | undefined
}

/** The keys of secrets that the proxy puts into requests. */
export interface InjectSettings {
  /** Hosts by the key of a secret. */
  readonly hosts: ReadonlyMap<string, readonly HostRule[]>
  /** Directory of the home, which keeps the certificate authority. */
  readonly home: string
}

/** Creates the settings of a mask in a home. */
export function createMaskSettings(home: string, { files, inject }: MaskChoice): MaskSettings {
  return {
    files,
    createMask: (scope) => new SecretMask(ensureSecretKey(home), scope),
    ...(inject !== undefined && { inject: { hosts: inject, home } }),
  }
}
