import type { NetworkTarget } from './host-name.ts'

/** Connections of a command to one target with the same outcome. Field names are those of the envelope. */
export interface NetworkUse {
  readonly host: string
  readonly port: number
  readonly decision: 'allowed' | 'refused' | 'failed'
  /** Reason of the first refusal or failure. */
  readonly reason?: string
  /** The rule that would allow a refused target, as it is typed. */
  readonly remedy?: string
  readonly connections: number
  readonly bytes_sent: number
  readonly bytes_received: number
}

/** Adds the bytes of a connection that has ended. */
export type CountBytes = (sent: number, received: number) => void

/**
 * Limit of entries (target and outcome); beyond it one `*` entry per outcome. A command may try any number of targets, but
 * its record stays small.
 */
const MAX_ENTRIES = 1000
/** Stands for all targets beyond the limit. */
const OTHER_TARGETS: NetworkTarget = { host: '*', port: 0 }

/** Counts the connections of a command, and their bytes, by target and outcome. */
export class ConnectionLog {
  readonly #uses = new Map<string, NetworkUse>()

  /** Records a connection, a refused one too. Returns the counter of its bytes. */
  add(
    target: NetworkTarget,
    decision: NetworkUse['decision'],
    details: Pick<NetworkUse, 'reason' | 'remedy'> = {},
  ): CountBytes {
    const isKnown = this.#uses.has(formatKey(target, decision))
    const isListed = isKnown || this.#uses.size < MAX_ENTRIES
    const { host, port } = isListed ? target : OTHER_TARGETS
    const { reason } = details
    const shownDetails = isListed ? details : { ...(reason !== undefined && { reason }) }
    const key = formatKey({ host, port }, decision)
    const count = (connections: number, sent: number, received: number) => {
      const use = this.#uses.get(key)
      this.#uses.set(key, {
        ...(use ?? { host, port, decision, ...shownDetails }),
        connections: (use?.connections ?? 0) + connections,
        bytes_sent: (use?.bytes_sent ?? 0) + sent,
        bytes_received: (use?.bytes_received ?? 0) + received,
      })
    }
    count(1, 0, 0)
    return (sent, received) => count(0, sent, received)
  }

  /** Lists what was recorded, in the order of the first connections. */
  list(): NetworkUse[] {
    return [...this.#uses.values()]
  }
}

function formatKey({ host, port }: NetworkTarget, decision: NetworkUse['decision']): string {
  return `${decision} ${host} ${port}`
}
