import type { ChildProcess } from 'node:child_process'
import type { NetworkUse } from './connection-log.ts'
import { type HostRule, isThisMachine } from './host-rule.ts'
import { createListenerArgs, receiveServers } from './listener/receive-servers.ts'
import { type ProxyOptions, ProxyServer } from './proxy/proxy-server.ts'
import { createProxyDefaults, createProxyEnvironment } from './proxy-environment.ts'
import { findProxyPort } from './proxy-ports.ts'
import { TrustFile } from './tls/trusted-roots.ts'

/** A program to run in the network of a command before it begins. */
interface NetworkListener {
  readonly argv: readonly string[]
  /** Receives the listening sockets of the program, through the IPC channel of the process that runs it. */
  attach(child: ChildProcess): void
}

/** The network of a command: a proxy on its loopback to the allowed hosts, and the allowed ports of this machine. */
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
  readonly #localPorts: ReadonlyMap<number, HostRule>

  /** @param takenPorts ports of its loopback on which programs listen already. */
  constructor(options: ProxyOptions, takenPorts: readonly number[] = []) {
    this.#proxy = new ProxyServer(options)
    this.#localPorts = new Map(
      options.rules.flatMap((rule) =>
        rule.port !== undefined &&
        !rule.isWildcard &&
        isThisMachine(rule.host) &&
        !takenPorts.includes(rule.port)
          ? [[rule.port, rule]]
          : [],
      ),
    )
    const proxyPort = findProxyPort(new Set([...takenPorts, ...this.#localPorts.keys()]))
    const ports = [proxyPort, ...this.#localPorts.keys()]
    const { injection } = options
    this.#trust = injection && new TrustFile([injection.roots, injection.authority.certificate])
    this.files = this.#trust === undefined ? [] : [this.#trust.path]
    this.env = { ...createProxyEnvironment(proxyPort), ...this.#trust?.env }
    this.defaults = createProxyDefaults(proxyPort)
    this.listener = {
      argv: createListenerArgs(ports),
      attach: (child) =>
        receiveServers(child, ports, (port, server) => {
          const rule = this.#localPorts.get(port)
          if (rule === undefined) return this.#proxy.listen(server)
          return this.#proxy.forward(server, { host: rule.host, port })
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
