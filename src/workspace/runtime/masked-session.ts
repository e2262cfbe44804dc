import { join } from 'node:path'
import { createProcessTag } from '../../machine/index.ts'
import {
  type CommandSession,
  type RunningSession,
  type RunOutcome,
  type RunSpec,
  removeTree,
  type SessionChange,
} from '../session/index.ts'
import { restoreMaskedChanges } from './restore-masked-changes.ts'
import type { SessionMask } from './session-mask.ts'

/** A session in which files with secrets have placeholders. It hides the real files, wherever they are. */
export class MaskedSession implements CommandSession {
  readonly kind: CommandSession['kind']
  readonly path: string
  readonly mask: SessionMask
  readonly #inner: CommandSession
  readonly #restoreDirectory: string | undefined

  /**
   * @param restoreIn directory for files with their real values, if the changes are to have these; they have
   * placeholders when absent.
   */
  constructor(inner: CommandSession, mask: SessionMask, restoreIn?: string) {
    this.kind = inner.kind
    this.path = inner.path
    this.mask = mask
    this.#inner = inner
    this.#restoreDirectory = restoreIn === undefined ? undefined : join(restoreIn, createProcessTag())
  }

  describe(): Omit<RunningSession, 'pid'> {
    return this.#inner.describe()
  }

  run(spec: RunSpec): Promise<RunOutcome> {
    // An overlay covers the directory itself. In any other session, the directory can be read at its own path.
    const outside = this.kind === 'overlay' ? [] : this.mask.listHostPaths()
    const isolation = { ...spec.isolation, hiddenOutside: [...outside, ...this.mask.linkedPaths] }
    return this.#inner.run({ ...spec, isolation })
  }

  async changes(): Promise<readonly SessionChange[]> {
    const changes = this.mask.filterChanges(await this.#inner.changes())
    return this.#restoreDirectory === undefined
      ? changes
      : restoreMaskedChanges(changes, this.mask, this.#restoreDirectory)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#inner[Symbol.asyncDispose]()
    if (this.#restoreDirectory !== undefined) await removeTree(this.#restoreDirectory)
  }
}
