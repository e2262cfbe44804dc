import { isBubblewrapKnownToWork, rememberBubblewrap } from './bubblewrap-probe.ts'
import { getKnownPrivilege, rememberNamespaces } from './namespaces.ts'

/** Support of this machine for isolation. A process that knows it starts commands without probes. */
export interface HostSupport {
  readonly privilege: 'root' | 'user'
  readonly hasBubblewrap: boolean
}

/** Returns what the probes of this process found; undefined before the first. */
export function getHostSupport(): HostSupport | undefined {
  const privilege = getKnownPrivilege()
  return privilege === undefined ? undefined : { privilege, hasBubblewrap: isBubblewrapKnownToWork() }
}

/** Takes over what another process of this user found. What did not work there is probed again. */
export function rememberHostSupport({ privilege, hasBubblewrap }: HostSupport): void {
  rememberNamespaces(privilege)
  if (hasBubblewrap) rememberBubblewrap()
}
