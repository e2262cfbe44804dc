import { isBubblewrapKnownToWork, rememberBubblewrap } from './bubblewrap-probe.ts'
import { getKnownPrivilege, rememberNamespaces } from './namespaces.ts'
import { listKnownOverlays, rememberOverlay } from './overlay-support.ts'

/** Support of this machine for isolation, which a process keeps for later ones: these need no probes of their own. */
export interface HostSupport {
  readonly privilege: 'root' | 'user'
  readonly hasBubblewrap: boolean
  /** Identities of overlays that could be mounted, the latest last; absent in files of earlier versions. */
  readonly overlays?: readonly string[]
}

/** Returns what the probes of this process found; undefined before it has tried to create namespaces. */
export function getHostSupport(): HostSupport | undefined {
  const privilege = getKnownPrivilege()
  if (privilege === undefined) return undefined
  return { privilege, hasBubblewrap: isBubblewrapKnownToWork(), overlays: listKnownOverlays() }
}

/** Takes over what another process of this user found. Support that it did not find is probed again. */
export function rememberHostSupport({ privilege, hasBubblewrap, overlays = [] }: HostSupport): void {
  rememberNamespaces(privilege)
  if (hasBubblewrap) rememberBubblewrap()
  for (const overlay of overlays) rememberOverlay(overlay)
}
