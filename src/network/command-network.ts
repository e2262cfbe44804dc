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
  /** Takes the process that has a channel of Node to the program. */
  attach(child: ChildProcess): void
}

/** The network of a command: a proxy on its loopback to the allowed hosts, and the allowed ports of this machine. */
export class CommandNetwork implements AsyncDisposable {
  /** Variables by which the command finds the proxy. */
  readonly env: Readonly<Record<string, string>>
  /** Variables for which those of the person win. */
  readonly defaults: Readonly<Record<string, string>>
  readonly listener: NetworkListener
  /** Files that the command has to be able to read. */
  readonly files: readonly string[]
  readonly #trust: TrustFile | undefined
  readonly #proxy: ProxyServer
  readonly #local: ReadonlyMap<number, HostRule>

  /** @param taken ports of its loopback on which programs listen already. */
  constructor(options: ProxyOptions, taken: readonly number[] = []) {
    this.#proxy = new ProxyServer(options)
    this.#local = new Map(
      options.rules.flatMap((rule) =>
        rule.port !== undefined && !rule.isWildcard && isThisMachine(rule.host) && !taken.includes(rule.port)
          ? [[rule.port, rule]]
          : [],
      ),
    )
    const proxyPort = findProxyPort(new Set([...taken, ...this.#local.keys()]))
    const ports = [proxyPort, ...this.#local.keys()]
    const { injection } = options
    this.#trust = injection && new TrustFile([injection.roots, injection.authority.certificate])
    this.files = this.#trust === undefined ? [] : [this.#trust.path]
    this.env = { ...createProxyEnvironment(proxyPort), ...this.#trust?.env }
    this.defaults = createProxyDefaults(proxyPort)
    this.listener = {
      argv: createListenerArgs(ports),
      attach: (child) =>
        receiveServers(child, ports, (port, server) => {
          const rule = this.#local.get(port)
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
