import { statSync } from 'node:fs'
import type { InputRequest } from '@modelcontextprotocol/server'
import type { HostFiles } from '../tools/index.ts'
import { ClientRoots } from './client-roots.ts'
import type { RequestExtra, SessionContext } from './mcp-feature.ts'

/**
 * Host files for one client: the owner's allow-list, restricted to the client's roots if it
 * has any. If the owner allows roots, they replace the list.
 */
export class ClientHost {
  readonly files: HostFiles
  readonly #allowsRoots: boolean
  readonly #roots: ClientRoots

  constructor(session: SessionContext, files: HostFiles, allowsRoots: boolean) {
    this.files = files
    this.#allowsRoots = allowsRoots
    // Allow nothing until the client has named its roots.
    files.narrow([])
    this.#roots = new ClientRoots(session, (roots) => this.#applyRoots(roots))
    session.signal.addEventListener('abort', () => void files.close().catch(() => {}), { once: true })
  }

  /** Resolves once the client's current roots are known; with a request if the result has to ask for them. */
  requestRoots(extra: RequestExtra): Promise<InputRequest | undefined> {
    return this.#roots.request(extra)
  }

  #applyRoots(roots: readonly string[] | null): void {
    if (roots === null || !this.#allowsRoots) this.files.narrow(roots)
    else this.files.setAllowed(roots.filter(isDirectory))
  }
}

/** Reports whether a root is a directory. A missing root allows nothing, and does not affect the others. */
function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
