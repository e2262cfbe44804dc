import { readFileSync } from 'node:fs'

/** State of a socket that listens, as the kernel writes it. */
const LISTEN = '0A'
/** Fields of a line of the kernel's table, separated by spaces. */
const [LOCAL_FIELD, REMOTE_FIELD, STATE_FIELD, USER_FIELD] = [1, 2, 3, 7]

/** Lists the TCP ports on which a program listens in the network of a process, in order. None if it has ended. */
export function listListeningPorts(pid: number): number[] {
  const ports = readSockets(pid).flatMap(({ state, local }) => (state === LISTEN ? [parsePort(local)] : []))
  return [...new Set(ports)].sort((one, other) => one - other)
}

/**
 * Finds the user of the process at the other end of a connection within this machine. Undefined if it cannot be found.
 *
 * @param local the port at this end.
 * @param remote the port at the other end.
 */
export function findPeerUser(local: number, remote: number): number | undefined {
  const peer = readSockets('self').find(
    (socket) => parsePort(socket.local) === remote && parsePort(socket.remote) === local,
  )
  return peer?.user
}

interface KernelSocket {
  readonly local: string
  readonly remote: string
  readonly state: string
  readonly user: number
}

function readSockets(pid: number | 'self'): KernelSocket[] {
  return ['tcp', 'tcp6'].flatMap((table) => {
    const [, ...lines] = readTable(`/proc/${pid}/net/${table}`).split('\n')
    return lines.flatMap((line) => {
      const fields = line.trim().split(/\s+/)
      const [local, remote, state] = [fields[LOCAL_FIELD], fields[REMOTE_FIELD], fields[STATE_FIELD]]
      if (local === undefined || remote === undefined || state === undefined) return []
      return { local, remote, state, user: Number(fields[USER_FIELD]) }
    })
  })
}

function readTable(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    // The process has ended, or this kernel has no IPv6.
    return ''
  }
}

/** Reads the port of an address such as `0100007F:0BB8`. */
function parsePort(address: string): number {
  return Number.parseInt(address.slice(address.lastIndexOf(':') + 1), 16)
}
