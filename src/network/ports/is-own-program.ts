import type { Socket } from 'node:net'
import { findPeerUser } from './listening-ports.ts'

/**
 * True if the program at the other end of a connection on the loopback is one of this user, or of root. Every user of a
 * machine reaches its loopback. Also true on a system that does not say: there a server needs other protection.
 */
export function isOwnProgram({ localPort, remotePort }: Socket): boolean {
  const own = process.getuid?.()
  if (own === undefined || process.platform !== 'linux') return true
  if (localPort === undefined || remotePort === undefined) return true
  const user = findPeerUser(localPort, remotePort)
  return user === own || user === 0
}
