import { connect, isIP, type LookupFunction, type OnReadOpts, type Socket } from 'node:net'
import type { ConnectionLog, CountBytes } from '../connection-log.ts'
import { formatTarget, type NetworkTarget } from '../host-name.ts'
import type { NetworkAccess } from '../network-access.ts'

const CONNECT_TIMEOUT_MS = 30_000
const KEEP_ALIVE_MS = 60_000

/** A connection to a target that was not made. */
export interface ConnectionProblem {
  readonly decision: 'refused' | 'failed'
  /** The target, and why there is no connection to it. */
  readonly message: string
  /** The rule that would allow a refused target. */
  readonly remedy?: string
}

export type UpstreamResult = { readonly socket: Socket } | { readonly problem: ConnectionProblem }

/** Context of the connections of one command. */
export interface UpstreamContext {
  readonly access: NetworkAccess
  readonly log: ConnectionLog
  /** Remembers a socket, to close it with the proxy. */
  readonly track: (socket: Socket) => void
  /** Called for each connection that is refused or fails. */
  readonly onProblem: (target: NetworkTarget, problem: ConnectionProblem) => void
}

/** Way in which a socket is read; by default as a stream. */
export interface UpstreamReading {
  readonly onread?: OnReadOpts
}

/**
 * Connects to a target, if the rules allow it, at an address that was checked. Records the connection and, when it
 * closes, its bytes. The socket is half-open: each side ends on its own.
 */
export async function openUpstream(
  target: NetworkTarget,
  context: UpstreamContext,
  reading: UpstreamReading = {},
): Promise<UpstreamResult> {
  const { access, log, track } = context
  const verdict = await access.decide(target)
  if (verdict.decision === 'refused') {
    log.add(target, 'refused', { reason: verdict.reason, remedy: verdict.remedy })
    return report({ ...createProblem('refused', target, verdict.reason), remedy: verdict.remedy })
  }
  if (verdict.decision === 'failed') return fail(verdict.reason)
  try {
    const socket = await connectTo(target, verdict.addresses, { track, ...reading })
    return { socket: countTraffic(socket, log.add(target, 'allowed')) }
  } catch (error) {
    return fail(`cannot be reached (${error instanceof Error ? error.message : error})`)
  }

  function fail(reason: string): UpstreamResult {
    log.add(target, 'failed', { reason })
    return report(createProblem('failed', target, reason))
  }

  function report(problem: ConnectionProblem): UpstreamResult {
    context.onProblem(target, problem)
    return { problem }
  }
}

function createProblem(
  decision: ConnectionProblem['decision'],
  target: NetworkTarget,
  reason: string,
): ConnectionProblem {
  return { decision, message: `${formatTarget(target)} ${reason}` }
}

/** Connects to the first of these addresses that answers. */
function connectTo(
  { host, port }: NetworkTarget,
  addresses: readonly string[],
  { track, onread }: Pick<UpstreamContext, 'track'> & UpstreamReading,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const [first = ''] = addresses
    const socket = connect({
      // With one address there is no lookup; with several, the pinned lookup returns those that were checked.
      host: addresses.length === 1 ? first : host,
      port,
      lookup: createPinnedLookup(addresses),
      allowHalfOpen: true,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_MS,
      ...(onread !== undefined && { onread }),
    })
    // Nothing is read before somebody takes it.
    if (onread !== undefined) socket.pause()
    track(socket)
    const timer = setTimeout(() => socket.destroy(new Error('it did not answer')), CONNECT_TIMEOUT_MS)
    socket.once('connect', () => resolve(socket))
    // The error of a connection that was made is that of the tunnel, too.
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('it was closed')))
    for (const event of ['connect', 'close'] as const) socket.once(event, () => clearTimeout(timer))
  })
}

function createPinnedLookup(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_host, options, callback) => {
    if (options.all) callback(null, found)
    else callback(null, found[0]?.address ?? '', found[0]?.family)
  }
}

function countTraffic(socket: Socket, count: CountBytes): Socket {
  socket.once('close', () => count(socket.bytesWritten, socket.bytesRead))
  return socket
}
