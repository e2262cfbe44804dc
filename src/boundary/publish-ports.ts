import {
  createConnectorArgs,
  ForkPorts,
  listListeningPorts,
  PortConnector,
  type PublishedPort,
} from '../network/index.ts'
import { ForkNetwork, type RunningSession, readListenerPorts } from '../workspace/index.ts'
import type { ForkClaim, RunningForks } from './running-forks.ts'

/** A fork whose ports get addresses. */
export interface PublishedFork {
  readonly claim: ForkClaim
  readonly running: RunningForks
  /** Ports to publish; those on which programs listen when absent. */
  readonly ports?: readonly number[] | undefined
  readonly onPort?: ((port: PublishedPort) => void) | undefined
}

/** Gives ports of a running session addresses on this machine, until the result is disposed. */
export function publishPorts(
  { pid, directory }: RunningSession,
  { claim, running, ports, onPort }: PublishedFork,
): ForkPorts {
  const network = new ForkNetwork(pid)
  return new ForkPorts({
    fork: claim.fork,
    ports,
    listListening: () => {
      const process = network.findProcess()
      if (process === undefined) return []
      // Read after the sockets: a command that joins records its ports before it listens.
      const listening = listListeningPorts(process)
      const own = readListenerPorts(directory)
      return listening.filter((port) => !own.has(port))
    },
    connector: new PortConnector(() => network.start(createConnectorArgs())),
    directory: {
      list: () => running.list().map(({ fork, ports = [] }) => ({ fork, ports })),
      publish: claim.publish,
    },
    onOpen: onPort,
  })
}
