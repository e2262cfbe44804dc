import { Agent, type ClientRequestArgs } from 'node:http'
import type { Socket } from 'node:net'
import type { NetworkTarget } from '../host-name.ts'
import type { ConnectionProblem, UpstreamResult } from './upstream.ts'

/** A request that got no connection. */
export class UpstreamError extends Error {
  readonly problem: ConnectionProblem

  constructor(problem: ConnectionProblem) {
    super(problem.message)
    this.problem = problem
  }
}

/** Connections for the requests of one client connection. A request reuses that of the previous one to its target. */
export class UpstreamAgent extends Agent {
  readonly #open: (target: NetworkTarget) => Promise<UpstreamResult>

  constructor(open: (target: NetworkTarget) => Promise<UpstreamResult>) {
    // A client may send requests without waiting. They stay in their order.
    super({ keepAlive: true, maxSockets: 1, maxFreeSockets: 1 })
    this.#open = open
  }

  override createConnection(
    { host, port }: ClientRequestArgs,
    callback?: (error: Error | null, socket: Socket) => void,
  ): undefined {
    const open = async () => {
      const result = await this.#open({ host: host ?? '', port: Number(port) })
      if ('problem' in result) throw new UpstreamError(result.problem)
      return result.socket
    }
    open().then(
      (socket) => callback?.(null, socket),
      // Node's callback takes an error alone; its type says otherwise.
      (error: Error) => Reflect.apply(callback ?? (() => {}), undefined, [error]),
    )
    return undefined
  }
}
