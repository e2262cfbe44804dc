import { rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makePrivateDirectory, makePrivateFile } from '../machine/index.ts'
import { VfsError } from '../vfs/index.ts'
import type { WebServer, WebUiOptions } from '../web-server/index.ts'
import { findForkByName } from '../workspace/index.ts'
import { getUiMarkerPath } from './client/index.ts'

/** The page of a home, served from the first request for it until the daemon ends. */
export class DaemonUi implements AsyncDisposable {
  readonly #options: Omit<WebUiOptions, 'port'> & { readonly directory: string }
  #server: Promise<WebServer> | undefined
  #streams: () => number = () => 0

  constructor(options: Omit<WebUiOptions, 'port'> & { readonly directory: string }) {
    this.#options = options
  }

  /** Number of pages that are open. */
  get streams(): number {
    return this.#streams()
  }

  /** Serves the page. EEXIST if it is served on another port than the given one. */
  async open(
    port: number | undefined,
    path: string | undefined,
  ): Promise<{ readonly origin: string; readonly link: string }> {
    this.#server ??= this.#start(port ?? 0)
    const server = await this.#server.catch((error: unknown) => {
      this.#server = undefined
      throw error
    })
    if (port !== undefined && port !== 0 && port !== server.port) {
      const detail = `the page is served on port ${server.port} already; leave --port out, or run coppice daemon stop first`
      throw new VfsError('EEXIST', server.origin, { op: 'ui', detail })
    }
    return { origin: server.origin, link: server.createLink(path) }
  }

  /** Finds a fork by its name. ENOENT. */
  async find(fork: string): Promise<{ readonly isLinked: boolean; readonly from: string | null }> {
    const { home } = this.#options
    if (!(await home.hasVault(fork))) {
      const detail = `there is no fork or vault '${fork}'; see: coppice forks, coppice vault list`
      throw new VfsError('ENOENT', fork, { op: 'ui', detail })
    }
    const { from } = await home.info(fork)
    const linked = await findForkByName(home, fork)
    return { isLinked: linked !== undefined, from: linked?.directory ?? from?.vault ?? null }
  }

  /** Creates an address of the page; null if it is not served. */
  async createLink(path: string | undefined): Promise<string | null> {
    return (await this.#server)?.createLink(path) ?? null
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const server = await this.#server?.catch(() => undefined)
    if (server === undefined) return
    rmSync(getUiMarkerPath(this.#options.directory), { force: true })
    await server.close()
  }

  async #start(port: number): Promise<WebServer> {
    // Loaded on use: most daemons serve no page.
    const { openWebUi } = await import('../web-server/index.ts')
    const server = await openWebUi({ ...this.#options, port }).catch((error: unknown) => {
      throw toPortError(error, port)
    })
    this.#streams = () => server.streams
    const marker = getUiMarkerPath(this.#options.directory)
    makePrivateDirectory(dirname(marker))
    makePrivateFile(marker)
    writeFileSync(marker, `${server.origin}\n`)
    return server
  }
}

function toPortError(error: unknown, port: number): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code !== 'EADDRINUSE' && code !== 'EACCES') return error
  const detail = `port ${port} is not available; choose another with --port, or leave it out`
  return new VfsError('EEXIST', String(port), { op: 'ui', detail, cause: error })
}

/** Returns the directory of the page in a package. */
export function getPageDirectory(packageRoot: string): string {
  return join(packageRoot, 'dist', 'web')
}
