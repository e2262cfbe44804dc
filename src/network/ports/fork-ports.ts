import { connect, type Socket } from 'node:net'
import { forwardByHost, forwardPlain, type Refusal } from './forward-connection.ts'
import { LoopbackServer } from './loopback-server.ts'
import type { PortConnector } from './port-connector.ts'

const LOCALHOST = 'localhost'
/** Names under which a program of this machine may address a plain port. */
const LOOPBACK_NAMES: readonly string[] = [LOCALHOST, '127.0.0.1', '[::1]']
/** The kernel gives ports from here on to programs that asked for any: nobody looks for a server there. */
const FIRST_EPHEMERAL_PORT = 32_768
const WATCH_INTERVAL_MS = 300

/** A port of a fork, and its addresses on this machine. */
export interface PublishedPort {
  readonly port: number
  readonly url: string
  /** Address for programs that speak another protocol than HTTP, or do not resolve the name. */
  readonly address: string
  /** True if this process serves the port of the URL, for every fork. */
  readonly isRouter: boolean
}

/** The ports that all forks of a home publish. */
interface PortDirectory {
  /** Lists the forks and their published ports. */
  list(): readonly { readonly fork: string; readonly ports: readonly PublishedPort[] }[]
  /** Replaces the ports of this fork. */
  publish(ports: readonly PublishedPort[]): void
}

interface ForkPortsOptions {
  readonly fork: string
  /** Publishes these ports from the start, and no others. Default: each port on which a program listens. */
  readonly ports?: readonly number[] | undefined
  /** Lists the ports on which programs listen in the fork now. */
  readonly listListening: () => readonly number[]
  readonly connector: PortConnector
  readonly directory: PortDirectory
  /** Called for each port once it has its addresses. */
  readonly onOpen?: ((port: PublishedPort) => void) | undefined
}

/**
 * Gives the ports of a fork addresses on this machine, while its command runs: `http://FORK.localhost:PORT` and a port
 * of its own for plain TCP. The first of several forks with the same port serves the name for all; when it ends,
 * another takes over.
 */
export class ForkPorts implements AsyncDisposable {
  readonly #options: ForkPortsOptions
  readonly #servers = new Map<
    number,
    { readonly plain: LoopbackServer; router?: LoopbackServer | undefined }
  >()
  readonly #timer: NodeJS.Timeout
  #work: Promise<void> = Promise.resolve()
  #published = '[]'
  #isClosed = false

  constructor(options: ForkPortsOptions) {
    this.#options = options
    this.#timer = setInterval(() => this.#schedule(), WATCH_INTERVAL_MS)
    this.#timer.unref()
    if (options.ports !== undefined) this.#schedule()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#timer)
    await this.#work
    for (const port of [...this.#servers.keys()]) await this.#close(port)
    this.#options.connector[Symbol.dispose]()
  }

  #schedule(): void {
    // A failure, such as one for lack of descriptors, is tried again: the command does not depend on it.
    this.#work = this.#work.then(() => this.#update()).catch(() => undefined)
  }

  async #update(): Promise<void> {
    if (this.#isClosed) return
    const { ports, listListening, directory, onOpen } = this.#options
    const wanted = ports ?? listListening().filter((port) => port < FIRST_EPHEMERAL_PORT)
    for (const port of this.#servers.keys()) if (!wanted.includes(port)) await this.#close(port)
    const added: number[] = []
    for (const port of wanted) if (await this.#publish(port)) added.push(port)
    const published = this.#describe()
    const text = JSON.stringify(published)
    if (text === this.#published) return
    this.#published = text
    directory.publish(published)
    for (const port of published) if (added.includes(port.port)) onOpen?.(port)
  }

  /** Listens for a port of the fork, and for its name unless another process does. True if the port is new. */
  async #publish(port: number): Promise<boolean> {
    const servers = this.#servers.get(port)
    if (servers === undefined) {
      const plain = await LoopbackServer.listen(0, (client) => this.#acceptPlain(client, port))
      if (plain === undefined) return false
      this.#servers.set(port, { plain, router: await this.#listenForNames(port) })
      return true
    }
    servers.router ??= await this.#listenForNames(port)
    return false
  }

  #listenForNames(port: number): Promise<LoopbackServer | undefined> {
    return LoopbackServer.listen(port, (client) => {
      forwardByHost(client, (host) => this.#connectByName(host, port)).catch(() => client.destroy())
    })
  }

  async #acceptPlain(client: Socket, port: number): Promise<void> {
    const { connector, fork } = this.#options
    const isAllowed = (host: string) => LOOPBACK_NAMES.includes(host) || host === createHostName(fork)
    try {
      await forwardPlain(client, await connector.connect(port), isAllowed)
    } catch {
      client.destroy()
    }
  }

  /** Connects to a port of the fork that a host name stands for, or returns why not. */
  async #connectByName(host: string, port: number): Promise<Socket | Refusal> {
    const { fork, connector, directory } = this.#options
    if (host === createHostName(fork)) {
      const text = `nothing listens on port ${port} of ${fork}`
      return (await connector.connect(port)) ?? { status: 502, text }
    }
    const all = directory
      .list()
      .flatMap(({ fork, ports }) => ports.flatMap((each) => (each.port === port ? { fork, ...each } : [])))
    const match = all.find((each) => createHostName(each.fork) === host)
    if (match !== undefined) return connectToFork(match.fork, match.address)
    const isLoopbackName = LOOPBACK_NAMES.includes(host)
    // The names of forks are shown only for a loopback name, which a web page cannot have as its host.
    const text = isLoopbackName
      ? `choose a fork: ${all.map(({ url }) => url).join(' ')}`
      : `no fork is at ${host}`
    return { status: 404, text }
  }

  #describe(): PublishedPort[] {
    const { fork } = this.#options
    return [...this.#servers].map(([port, { plain, router }]) => {
      const isRouter = router !== undefined
      const shown = isRouter || this.#isRoutedByOther(port) ? port : plain.port
      const url = `http://${createHostName(fork)}:${shown}`
      return { port, url, address: `127.0.0.1:${plain.port}`, isRouter }
    })
  }

  #isRoutedByOther(port: number): boolean {
    const { directory, fork } = this.#options
    return directory
      .list()
      .some((other) => other.fork !== fork && other.ports.some((each) => each.port === port && each.isRouter))
  }

  async #close(port: number): Promise<void> {
    const servers = this.#servers.get(port)
    this.#servers.delete(port)
    await servers?.router?.[Symbol.asyncDispose]()
    await servers?.plain[Symbol.asyncDispose]()
  }
}

/** Returns the host name of a fork, in lower case as browsers write it. */
function createHostName(fork: string): string {
  return `${fork}.${LOCALHOST}`.toLowerCase()
}

/** Connects to the plain port of another fork, which another process serves. */
function connectToFork(fork: string, address: string): Promise<Socket | Refusal> {
  const { promise, resolve } = Promise.withResolvers<Socket | Refusal>()
  const [host = '', port = ''] = address.split(':')
  const socket = connect({ host, port: Number(port), allowHalfOpen: true })
  socket.once('connect', () => resolve(socket))
  socket.once('error', () => resolve({ status: 502, text: `the command in ${fork} has ended` }))
  return promise
}
