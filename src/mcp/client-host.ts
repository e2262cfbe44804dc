import { statSync } from 'node:fs'
import type { HostFiles } from '../tools/index.ts'
import { ClientRoots } from './client-roots.ts'
import type { SessionContext } from './mcp-feature.ts'

/**
 * Files of this machine for one client: what the owner allows, and of that only what is in the client's roots if it
 * has any. Where the owner allows the roots themselves, they take the place of the list.
 */
export class ClientHost {
  readonly files: HostFiles
  readonly #allowsRoots: boolean
  readonly #roots: ClientRoots

  constructor(session: SessionContext, files: HostFiles, allowsRoots: boolean) {
    this.files = files
    this.#allowsRoots = allowsRoots
    // Nothing before the client has said what it works on.
    files.narrow([])
    this.#roots = new ClientRoots(session, (roots) => this.#applyRoots(roots))
    session.signal.addEventListener('abort', () => void files.close().catch(() => {}), { once: true })
  }

  /** Resolves when the client's roots are known as they are now. */
  waitForRoots(): Promise<void> {
    return this.#roots.waitUntilKnown()
  }

  #applyRoots(roots: readonly string[] | null): void {
    if (roots === null || !this.#allowsRoots) this.files.narrow(roots)
    else this.files.setAllowed(roots.filter(isDirectory))
  }
}

/** A root that is not there allows nothing, and keeps no other from being allowed. */
function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
