import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isErrno, makePrivateDirectory, PRIVATE_FILE_MODE } from '../../machine/index.ts'
import { hasPlaceholder, SecretFiles, SecretMask } from '../../secrets/index.ts'
import { ApplyError } from './apply-conflicts.ts'
import type { TreeChange } from './compare-trees.ts'
import type { DirectoryTree } from './directory-tree.ts'
import { getForkFilesDirectory } from './fork-files.ts'
import { createFileEntry, type LinkEntry, readEntry } from './link-entry.ts'
import { maskTree } from './masked-host-tree.ts'
import { findSecretKey } from './secret-key.ts'
import { findEntry, type TreeFiles } from './tree.ts'

const SAVED_FILE = 'applied-secrets.json'
const MOVED_FILE = 'moved-secrets.json'
const NEXT_SUFFIX = '.next'
/** A larger file is taken for one without placeholders, and not read. */
const MAX_BYTES = 2 ** 20

/** The real content of files by path. */
type RealContent = ReadonlyMap<string, Uint8Array>

/**
 * The placeholders of a fork. The vaults of a fork have them in place of secret values, the directory has the values.
 * Two states are compared with placeholders, and written with values.
 */
export class ForkSecrets {
  readonly #directory: string
  readonly #files: string
  readonly #mask: SecretMask
  /** Files that an apply renamed, with the path that their placeholders are of. */
  readonly #moved: Map<string, string>

  private constructor(home: string, directory: string, fork: string, key: Uint8Array) {
    this.#directory = directory
    this.#files = join(getForkFilesDirectory(home), fork)
    this.#mask = new SecretMask(key, directory)
    this.#moved = new Map(readTexts(join(this.#files, MOVED_FILE)))
  }

  /** Returns undefined for a home that has never masked a file. */
  static open(home: string | undefined, directory: string, fork: string): ForkSecrets | undefined {
    const key = findSecretKey(home)
    return home === undefined || key === undefined ? undefined : new ForkSecrets(home, directory, fork, key)
  }

  /** Returns the directory as commands of the fork saw it: masked where one of the trees has placeholders. */
  openMaskedTree(directory: DirectoryTree, ...trees: readonly TreeFiles[]): DirectoryTree {
    return maskTree(directory, (path, content) =>
      this.maskLike(
        path,
        trees.map((tree) => findEntry(tree, path)),
        content,
      ),
    )
  }

  /** Masks the content of a file if one of its other states has placeholders; otherwise returns undefined. */
  maskLike(
    path: string,
    states: readonly (LinkEntry | undefined)[],
    content: () => Uint8Array,
  ): Uint8Array | undefined {
    for (const state of states) {
      const origin = this.#findOrigin(path, state)
      if (origin !== undefined && state !== undefined)
        return this.#mask.maskLike(origin, content(), readEntry(state), states.flatMap(readSmall))
    }
    return undefined
  }

  /**
   * Returns changes with the real values of the directory in place of their placeholders, and keeps these values for
   * an undo. Throws ApplyError if a file has lost its format, or if its removal would lose values that its copy lacks.
   * @param others changes of the fork that stay in it, among which a renamed file may have its other name.
   */
  restoreForApply(
    directory: DirectoryTree,
    changes: readonly TreeChange[],
    others: readonly TreeChange[],
  ): TreeChange[] {
    const real = this.#readReal(directory, [...changes, ...others])
    this.#assertRestorable(changes, real)
    const gone = [...changes, ...others].filter(({ after }) => after === undefined).map(({ path }) => path)
    const restored = this.#restore(directory, changes, real, gone)
    this.#assertNothingLost(restored, others, real)
    const written = new Set(changes.map(({ path }) => path))
    const saved = new Map([...real].filter(([path]) => written.has(path)))
    this.#save(saved)
    if (this.#moved.size > 0) this.#write(MOVED_FILE, this.#moved)
    return restored
  }

  /**
   * Returns changes with the values that the directory has now, or, where the apply replaced them, those that it had
   * before.
   */
  restoreForUndo(directory: DirectoryTree, changes: readonly TreeChange[]): TreeChange[] {
    const current = this.#readReal(directory, changes)
    const real = new Map([...current, ...this.#readSaved()])
    const gone = changes.filter(({ after }) => after === undefined).map(({ path }) => path)
    const kept = changes.map((change) => this.#restoreKept(change, current.get(change.path)))
    return this.#restore(directory, kept, real, gone)
  }

  /** Puts the values of a file into a change of it, at the keys whose values both states have. */
  #restoreKept(change: TreeChange, real: Uint8Array | undefined): TreeChange {
    const { path, before, after } = change
    const [applied, content] = [readWithPlaceholders(before), readWithPlaceholders(after)]
    if (real === undefined || applied === undefined || content === undefined || after === undefined)
      return change
    const origin = this.#findOrigin(path, before) ?? path
    const { bytes } = this.#mask.restore(origin, content, real, applied)
    return { ...change, after: createFileEntry(after, bytes) }
  }

  /** Makes the values of the last apply those that an undo restores. May run again. */
  commitSaved(): void {
    const file = join(this.#files, SAVED_FILE)
    try {
      renameSync(file + NEXT_SUFFIX, file)
    } catch (error) {
      if (!isErrno(error, 'ENOENT')) throw error
    }
  }

  /** Removes the values of an apply that was not completed. */
  discardNext(): void {
    rmSync(join(this.#files, SAVED_FILE + NEXT_SUFFIX), { force: true })
  }

  /** Removes the values that an undo restores. */
  discardSaved(): void {
    rmSync(join(this.#files, SAVED_FILE), { force: true })
  }

  #restore(
    directory: DirectoryTree,
    changes: readonly TreeChange[],
    real: RealContent,
    gone: readonly string[],
  ): TreeChange[] {
    return changes.map((change) => {
      const { path, before, after } = change
      const isMasked = this.#findOrigin(path, before) !== undefined
      // The write compares with the directory itself.
      const current = isMasked ? (directory.findEntry(path) ?? before) : before
      const content = readWithPlaceholders(after)
      if (after === undefined || content === undefined) return { ...change, before: current }
      const restored = this.#restoreContent(change, content, gone, real)
      const entry = createFileEntry(after, restored)
      return {
        path,
        before: current,
        after: entry,
        ...(hasPlaceholder(restored) && { hasPlaceholders: true }),
      }
    })
  }

  #restoreContent(
    change: TreeChange,
    content: Uint8Array,
    gone: readonly string[],
    real: RealContent,
  ): Uint8Array {
    const { path } = change
    const own = real.get(path)
    if (own !== undefined) {
      const origin = this.#findOrigin(path, change.after) ?? this.#findOrigin(path, change.before) ?? path
      return this.#mask.restore(origin, content, own).bytes
    }
    const origin = this.#findMovedFrom(change, gone, content, real)
    if (origin === undefined) return content
    this.#moved.set(path, origin)
    return this.#mask.restore(origin, content, real.get(origin) ?? content).bytes
  }

  /** Returns the removed file that a new one was renamed from. Values go only into files that are masked as well. */
  #findMovedFrom(
    { path, before }: TreeChange,
    gone: readonly string[],
    content: Uint8Array,
    real: RealContent,
  ): string | undefined {
    if (before !== undefined || !new SecretFiles().includes(path)) return undefined
    return gone.find((origin) => {
      const bytes = real.get(origin)
      return bytes !== undefined && this.#mask.hasPlaceholderFrom(origin, content, bytes)
    })
  }

  /** Throws for a file whose changed content has no place for its values any more. */
  #assertRestorable(changes: readonly TreeChange[], real: RealContent): void {
    const conflicts = changes.flatMap(({ path, before, after }) => {
      const bytes = real.get(path)
      if (bytes === undefined || after?.type !== 'file') return []
      const origin = this.#findOrigin(path, before) ?? path
      const isSmall = after.size <= MAX_BYTES
      if (isSmall && this.#mask.canRestore(origin, readEntry(after), bytes)) return []
      const reason =
        'has another format in the fork, so its values cannot be put back; restore the format there'
      return [{ path, reason }]
    })
    if (conflicts.length > 0) throw new ApplyError(this.#directory, conflicts)
  }

  #assertNothingLost(changes: readonly TreeChange[], others: readonly TreeChange[], real: RealContent): void {
    const left = changes.flatMap(({ path, after, hasPlaceholders }) =>
      hasPlaceholders === true && after !== undefined ? [{ path, content: readEntry(after) }] : [],
    )
    for (const { path, before, after } of others) {
      const content = before === undefined ? readWithPlaceholders(after) : undefined
      if (content !== undefined) left.push({ path, content })
    }
    const conflicts = changes.flatMap(({ path, after }) => {
      const bytes = after === undefined ? real.get(path) : undefined
      const copy = bytes && left.find(({ content }) => this.#mask.hasPlaceholderFrom(path, content, bytes))
      if (copy === undefined) return []
      const reason = `has values that its copy ${copy.path} lacks: the fork moved it, and had placeholders only; restore it in the fork, or remove it here yourself`
      return [{ path, reason }]
    })
    if (conflicts.length > 0) throw new ApplyError(this.#directory, conflicts)
  }

  /** Reads the masked files of the directory that changes replace or remove. */
  #readReal(directory: DirectoryTree, changes: readonly TreeChange[]): Map<string, Uint8Array> {
    const real = new Map<string, Uint8Array>()
    for (const { path, before, after } of changes) {
      const origin = this.#findOrigin(path, before) ?? this.#findOrigin(path, after)
      if (origin === undefined) continue
      const entry = directory.findEntry(path)
      if (entry?.type === 'file') real.set(path, readEntry(entry))
    }
    return real
  }

  /** Returns the path that the placeholders of a file are of; undefined if it is not masked. */
  #findOrigin(path: string, entry: LinkEntry | undefined): string | undefined {
    const content = readWithPlaceholders(entry)
    if (content === undefined) return undefined
    const moved = this.#moved.get(path)
    const origins = moved === undefined ? [path] : [path, moved]
    return origins.find((origin) => this.#mask.isMasked(origin, content))
  }

  #save(real: RealContent): void {
    const encoded = [...real].map(([path, bytes]) => [path, Buffer.from(bytes).toString('base64')] as const)
    this.#write(SAVED_FILE + NEXT_SUFFIX, new Map(encoded))
  }

  #readSaved(): [path: string, bytes: Uint8Array][] {
    const saved = readTexts(join(this.#files, SAVED_FILE))
    return saved.map(([path, text]) => [path, Buffer.from(text, 'base64')])
  }

  #write(name: string, texts: ReadonlyMap<string, string>): void {
    makePrivateDirectory(this.#files)
    const text = JSON.stringify(Object.fromEntries(texts))
    writeFileSync(join(this.#files, name), text, { mode: PRIVATE_FILE_MODE, flush: true })
  }
}

/** Reads a file with texts by path; empty if there is none. */
function readTexts(file: string): [path: string, text: string][] {
  try {
    const values: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return Object.entries(values ?? {}).map(([path, text]) => [path, String(text)])
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return []
    throw error
  }
}

/** Returns the content of a file with placeholders; undefined for anything else. */
function readWithPlaceholders(entry: LinkEntry | undefined): Uint8Array | undefined {
  return readSmall(entry).find(hasPlaceholder)
}

/** Reads a file that may have placeholders; nothing for anything else, as one that this user may not read. */
function readSmall(entry: LinkEntry | undefined): Uint8Array[] {
  if (entry?.type !== 'file' || entry.size > MAX_BYTES) return []
  try {
    return [readEntry(entry)]
  } catch (error) {
    if (!isErrno(error, 'EACCES')) throw error
    return []
  }
}
