import { createHash } from 'node:crypto'
import { lstatSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { isErrno } from '../../machine/index.ts'
import type { BoundSecret } from '../../network/index.ts'
import type { SecretFiles, SecretMask } from '../../secrets/index.ts'
import { isWithin } from '../../vfs/index.ts'
import type { SessionBase, SessionChange, StagedChange } from '../session/index.ts'
import { findSecretFiles, isSkipped } from './find-secret-files.ts'
import type { InjectSettings, MaskSettings } from './mask-settings.ts'

const PERMISSION_BITS = 0o7777

/** Returns the scope of the placeholders of a vault; that of a directory is its path. */
export function formatVaultScope(vault: string): string {
  return `vault ${vault}`
}

/** A file of the workspace with secret values. */
interface MaskedFile {
  readonly path: string
  readonly host: string
  readonly masked: Uint8Array
  readonly mode: number
}

/** A masked file as a session began with it. */
export interface StagedFile {
  readonly path: string
  readonly mode: number
  readonly digest: string
}

/** Filters out masked files that the commands of an earlier session left as they were. */
export function filterTouched(
  changes: readonly SessionChange[],
  staged: readonly StagedFile[],
): SessionChange[] {
  const byPath = new Map(staged.map((file) => [file.path, file]))
  return changes.filter((change) => {
    const file = byPath.get(change.path)
    if (file === undefined || change.kind === 'gone' || change.type !== 'file') return true
    return change.mode !== file.mode || file.digest !== computeDigest(readFileSync(change.host))
  })
}

function computeDigest(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}

/** The masked files of a session. */
export class SessionMask {
  /** Scope of the placeholders. */
  readonly scope: string
  readonly #mask: SecretMask
  readonly #secretFiles: SecretFiles
  readonly #files: ReadonlyMap<string, MaskedFile>
  /** Paths of the masked files that the session gets from this mask, and not from its staged changes. */
  readonly #covered: ReadonlySet<string>
  /** Real paths of secret files outside of the workspace to which links in it lead. */
  readonly linkedPaths: readonly string[]

  private constructor(
    scope: string,
    mask: SecretMask,
    secretFiles: SecretFiles,
    files: readonly MaskedFile[],
    covered: ReadonlySet<string>,
    linkedPaths: readonly string[],
  ) {
    this.scope = scope
    this.#mask = mask
    this.#secretFiles = secretFiles
    this.#files = new Map(files.map((file) => [file.path, file]))
    this.#covered = covered
    this.linkedPaths = linkedPaths
  }

  /** Finds the files to mask below a session's base. What the session stages itself is not masked. */
  static async create(
    { files, createMask }: MaskSettings,
    scope: string,
    { lower, staged }: SessionBase,
  ): Promise<SessionMask> {
    const mask = createMask(scope)
    const found = await findSecretFiles(realpathSync(lower), files)
    const masked = found.inside.flatMap((path) => maskFile(mask, lower, path))
    const covered = masked.filter(({ path }) => !isStaged(staged, path)).map(({ path }) => path)
    return new SessionMask(scope, mask, files, masked, new Set(covered), found.outside)
  }

  /** Returns the base with masked files on top. */
  coverBase(base: SessionBase): SessionBase {
    const puts = [...this.#files.values()].filter(({ path }) => this.#covered.has(path)).map(toStagedChange)
    return { ...base, staged: [...puts, ...base.staged] }
  }

  /** Lists the real files, for sessions that are not in the directory itself. */
  listHostPaths(): string[] {
    return [...this.#files.values()].map(({ host }) => realpathSync(host))
  }

  /** Lists the secrets that are bound to hosts by their keys. */
  listBoundSecrets({ hosts }: InjectSettings): BoundSecret[] {
    const secrets = [...this.#files.values()].flatMap(({ path, host }) =>
      this.#mask.listSecrets(path, readFileSync(host)),
    )
    return secrets.flatMap(({ name, value, placeholder }) => {
      const bound = hosts.get(name)
      return bound === undefined ? [] : [{ value, placeholder, hosts: bound }]
    })
  }

  /** Lists the masked files as the session has them, for a process that collects its changes later. */
  listStagedFiles(): StagedFile[] {
    const covered = [...this.#files.values()].filter(({ path }) => this.#covered.has(path))
    return covered.map(({ path, mode, masked }) => ({ path, mode, digest: computeDigest(masked) }))
  }

  /** Filters out masked files that the commands left as they were. */
  filterChanges(changes: readonly SessionChange[]): SessionChange[] {
    return changes.filter((change) => {
      const file = this.#covered.has(change.path) ? this.#files.get(change.path) : undefined
      if (file === undefined || change.kind === 'gone' || change.type !== 'file') return true
      return change.mode !== file.mode || !Buffer.from(file.masked).equals(readFileSync(change.host))
    })
  }

  /**
   * Returns changed content of a masked file with its real values; undefined for another file, and `'lost'` for
   * content that has no place for the values any more.
   */
  restoreContent(path: string, content: () => Uint8Array): Uint8Array | 'lost' | undefined {
    const file = this.#files.get(path)
    if (file === undefined) return undefined
    const [changed, real] = [content(), readFileSync(file.host)]
    if (!this.#mask.canRestore(path, changed, real)) return 'lost'
    return this.#mask.restore(path, changed, real).bytes
  }

  /** Masks a file of the directory as the session did; undefined if it was not masked. */
  maskContent(path: string, content: () => Uint8Array): Uint8Array | undefined {
    const isSecret = this.#files.has(path) || (this.#secretFiles.includes(path) && !isSkipped(path))
    return isSecret ? this.#mask.mask(path, content()) : undefined
  }
}

function maskFile(mask: SecretMask, lower: string, path: string): MaskedFile[] {
  const host = join(lower, path)
  try {
    const content = readFileSync(host)
    const masked = mask.mask(path, content)
    if (content.equals(masked)) return []
    return [{ path, host, masked, mode: lstatSync(host).mode & PERMISSION_BITS }]
  } catch (error) {
    // The commands cannot read it either.
    if (isErrno(error, 'EACCES', 'ENOENT')) return []
    throw error
  }
}

function toStagedChange({ path, host, masked, mode }: MaskedFile): StagedChange {
  const { mtimeNs, uid, gid } = lstatSync(host, { bigint: true })
  return {
    kind: 'put',
    path,
    type: 'file',
    mode,
    mtimeNs,
    uid: Number(uid),
    gid: Number(gid),
    content: () => [masked],
  }
}

/** Reports whether staged changes put, replace or remove a path. */
function isStaged(staged: readonly StagedChange[], path: string): boolean {
  return staged.some((change) => {
    if (change.path === path) return true
    const isDirectory = change.kind === 'put' && change.type === 'directory'
    return !isDirectory && isWithin(path, change.path)
  })
}
