import type { ChildProcess } from 'node:child_process'
import type { NetworkUse } from './connection-log.ts'
import { formatTarget, type NetworkTarget } from './host-name.ts'
import { type HostRule, isThisMachine } from './host-rule.ts'
import { createListenerArgs, receiveServers } from './listener/receive-servers.ts'
import { type ProxyOptions, ProxyServer } from './proxy/proxy-server.ts'
import { createProxyDefaults, createProxyEnvironment } from './proxy-environment.ts'
import { findProxyPort } from './proxy-ports.ts'
import { TrustFile } from './tls/trusted-roots.ts'

/** A program to run in the network of a command before the command begins. */
interface NetworkListener {
  readonly argv: readonly string[]
  /** Ports on which it listens. */
  readonly ports: readonly number[]
  /** Receives the listening sockets of the program, through the IPC channel of the process that runs it. */
  attach(child: ChildProcess): void
}

/**
 * The network of a command. On the command's own loopback it has a proxy to the allowed hosts, and the allowed ports of
 * this machine's loopback.
 */
export class CommandNetwork implements AsyncDisposable {
  /** Variables by which the command finds the proxy. */
  readonly env: Readonly<Record<string, string>>
  /** Variables that those of the person override. */
  readonly defaults: Readonly<Record<string, string>>
  readonly listener: NetworkListener
  /** Files that the command has to be able to read. */
  readonly files: readonly string[]
  readonly #trust: TrustFile | undefined
  readonly #proxy: ProxyServer

  /** @param takenPorts ports of the command's loopback on which programs listen already. */
  constructor(options: ProxyOptions, takenPorts: readonly number[] = []) {
    this.#proxy = new ProxyServer(options)
    const targets = listLocalTargets(options.rules).filter(({ port }) => !takenPorts.includes(port))
    const targetsByPort = Map.groupBy(targets, ({ port }) => port)
    const proxyPort = findProxyPort(new Set([...takenPorts, ...targetsByPort.keys()]))
    const ports = [proxyPort, ...targetsByPort.keys()]
    const { injection } = options
    this.#trust = injection && new TrustFile([injection.roots, injection.authority.certificate])
    this.files = this.#trust === undefined ? [] : [this.#trust.path]
    this.env = { ...createProxyEnvironment(proxyPort), ...this.#trust?.env }
    this.defaults = createProxyDefaults(proxyPort)
    this.listener = {
      argv: createListenerArgs(ports),
      ports,
      attach: (child) =>
        receiveServers(child, ports, (port, server) => {
          const forwarded = targetsByPort.get(port)
          return forwarded === undefined ? this.#proxy.listen(server) : this.#proxy.forward(server, forwarded)
        }),
    }
  }

  /** Lists the connections so far. */
  listConnections(): NetworkUse[] {
    return this.#proxy.listConnections()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#trust?.[Symbol.dispose]()
    await this.#proxy[Symbol.asyncDispose]()
  }
}

/** Lists what rules allow of this machine, in their order and each once. A port may be at several addresses. */
function listLocalTargets(rules: readonly HostRule[]): NetworkTarget[] {
  const targets = rules.flatMap(({ host, isWildcard, port }) =>
    port !== undefined && !isWildcard && isThisMachine(host) ? [{ host, port }] : [],
  )
  return [...new Map(targets.map((target) => [formatTarget(target), target])).values()]
}
