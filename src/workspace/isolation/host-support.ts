import { isBubblewrapKnownToWork, rememberBubblewrap } from './bubblewrap-probe.ts'
import { getKnownPrivilege, rememberNamespaces } from './namespaces.ts'
import { listKnownOverlays, rememberOverlay } from './overlay-support.ts'

/** Support of this machine for isolation. A process that knows it starts commands without probes. */
export interface HostSupport {
  readonly privilege: 'root' | 'user'
  readonly hasBubblewrap: boolean
  /** Overlays that were mounted, the latest last; records of earlier versions have none. */
  readonly overlays?: readonly string[]
}

/** Returns what the probes of this process found; undefined before the first. */
export function getHostSupport(): HostSupport | undefined {
  const privilege = getKnownPrivilege()
  if (privilege === undefined) return undefined
  return { privilege, hasBubblewrap: isBubblewrapKnownToWork(), overlays: listKnownOverlays() }
}

/** Takes over what another process of this user found. What did not work there is probed again. */
export function rememberHostSupport({ privilege, hasBubblewrap, overlays = [] }: HostSupport): void {
  rememberNamespaces(privilege)
  if (hasBubblewrap) rememberBubblewrap()
  for (const overlay of overlays) rememberOverlay(overlay)
}
