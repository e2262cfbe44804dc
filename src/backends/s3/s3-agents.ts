import type { Agent } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** Time without a byte in either direction after which a connection is closed. */
const SILENCE_MS = 15_000
/** The same after an interruption. */
const INTERRUPTED_SILENCE_MS = 2000
const MAX_SOCKETS = 50

/** Agents that close connections on which nothing moves. */
export interface S3Agents {
  readonly httpAgent: Agent
  readonly httpsAgent: Agent
}

/** Creates the agents of a client. Once the signal aborts, they wait for a silent server only briefly. */
export async function createAgents(interruption: AbortSignal | undefined): Promise<S3Agents> {
  const [http, https] = await Promise.all([import('node:http'), import('node:https')])
  const options = { keepAlive: true, maxSockets: MAX_SOCKETS }
  const agents = { httpAgent: new http.Agent(options), httpsAgent: new https.Agent(options) }
  const isInterrupted = () => interruption?.aborted === true
  for (const agent of Object.values(agents)) {
    closeSilentSockets(agent, isInterrupted)
    const shorten = () => {
      for (const socket of Object.values(agent.sockets).flat()) socket?.setTimeout(INTERRUPTED_SILENCE_MS)
    }
    interruption?.addEventListener('abort', shorten, { once: true })
  }
  return agents
}

/** Sets the timeouts of an agent's connections, and closes those that reach it: Node only reports them. */
function closeSilentSockets(agent: Agent, isInterrupted: () => boolean): void {
  const { createConnection, reuseSocket } = agent
  const limit = (socket: Duplex | null | undefined) => {
    if (socket instanceof Socket) socket.setTimeout(isInterrupted() ? INTERRUPTED_SILENCE_MS : SILENCE_MS)
  }
  agent.createConnection = (options, done) => {
    const socket = createConnection.call(agent, options, done)
    socket?.on('timeout', () => socket.destroy(createTimeoutError()))
    limit(socket)
    return socket
  }
  // A connection without a request has no timeout.
  agent.reuseSocket = (socket, request) => {
    limit(socket)
    reuseSocket.call(agent, socket, request)
  }
}

/** Creates an error with the name by which the SDK recognises a request to repeat. */
function createTimeoutError(): Error {
  return Object.assign(new Error('nothing moved on the connection'), { name: 'TimeoutError' })
}
