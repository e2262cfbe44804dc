import {
  listTaggedFiles,
  listTags,
  type OperationPlan,
  type Provenance,
  readMetadata,
  type VaultFiles,
} from '../../store/index.ts'
import { type CallContext, checkPath, VfsError } from '../../vfs/index.ts'
import { toProvenance } from './to-provenance.ts'

/** The access to a vault that labels need. */
export interface LabelSource {
  inspect<T>(read: (files: VaultFiles) => T): T | Promise<T>
  submit(plan: OperationPlan, provenance: Provenance): Promise<void>
}

const MAX_NAME_BYTES = 255

/** Tags on files. They stay with a file when it is renamed, and vanish when it is removed. */
export class Tags {
  readonly #source: LabelSource

  constructor(source: LabelSource) {
    this.#source = source
  }

  /** Adds tags to a file or directory. ENOENT, EINVAL (an invalid tag). */
  async add(path: string, tags: string | readonly string[], ctx?: CallContext): Promise<void> {
    await this.#change(path, toList(tags), [], ctx)
  }

  /** Removes tags and ignores those that are not set. ENOENT. */
  async remove(path: string, tags: string | readonly string[], ctx?: CallContext): Promise<void> {
    await this.#change(path, [], toList(tags), ctx)
  }

  /** Returns the tags of a file, sorted. ENOENT. */
  async of(path: string): Promise<string[]> {
    const checked = checkPath(path, 'tag')
    return this.#source.inspect((files) => listTags(files, getInodeNumber(files, checked, 'tag')))
  }

  /** Returns the paths with a tag, sorted. */
  async find(tag: string): Promise<string[]> {
    return this.#source.inspect((files) => {
      const paths: string[] = []
      for (const tagged of listTaggedFiles(files, `${tag}\0`)) {
        if (tagged.tag !== tag) break
        paths.push(files.getPath(tagged.inode))
      }
      return paths.sort()
    })
  }

  /** Returns every tag in use with the number of its files. */
  async all(): Promise<{ tag: string; count: number }[]> {
    return this.#source.inspect((files) => {
      const counts = new Map<string, number>()
      for (const { tag } of listTaggedFiles(files)) counts.set(tag, (counts.get(tag) ?? 0) + 1)
      return [...counts].map(([tag, count]) => ({ tag, count }))
    })
  }

  #change(path: string, add: readonly string[], remove: readonly string[], ctx?: CallContext): Promise<void> {
    const checked = checkPath(path, 'tag')
    for (const tag of add) assertName(tag, checked, 'tag')
    return this.#source.submit(() => ({ op: 'tag', path: checked, add, remove }), toProvenance(ctx))
  }
}

/** Metadata of files: key–value pairs of the user. */
export class Metadata {
  readonly #source: LabelSource

  constructor(source: LabelSource) {
    this.#source = source
  }

  /** Sets the value of a key. ENOENT, EINVAL (an invalid key or value). */
  async set(path: string, key: string, value: string, ctx?: CallContext): Promise<void> {
    const checked = checkPath(path, 'meta')
    assertName(key, checked, 'meta')
    if (!value.isWellFormed()) {
      const detail = `the value of '${key}' is not valid Unicode; encode bytes as text, such as base64`
      throw new VfsError('EINVAL', checked, { op: 'meta', detail })
    }
    await this.#source.submit(
      () => ({ op: 'meta', path: checked, values: { [key]: value } }),
      toProvenance(ctx),
    )
  }

  /** Returns the value of a key, or undefined. ENOENT. */
  async get(path: string, key: string): Promise<string | undefined> {
    const all = await this.all(path)
    return Object.hasOwn(all, key) ? all[key] : undefined
  }

  /** Removes a key and ignores one that is not set. ENOENT. */
  async remove(path: string, key: string, ctx?: CallContext): Promise<void> {
    const checked = checkPath(path, 'meta')
    await this.#source.submit(
      () => ({ op: 'meta', path: checked, values: { [key]: null } }),
      toProvenance(ctx),
    )
  }

  /** Returns all keys of a file with their values. ENOENT. */
  async all(path: string): Promise<Record<string, string>> {
    const checked = checkPath(path, 'meta')
    return this.#source.inspect((files) => readMetadata(files, getInodeNumber(files, checked, 'meta')))
  }
}

function toList(tags: string | readonly string[]): readonly string[] {
  return typeof tags === 'string' ? [tags] : tags
}

function getInodeNumber(files: VaultFiles, path: string, op: string): number {
  const number = files.findByPath(files.resolveLinks(path, false, op))
  if (number === undefined) throw new VfsError('ENOENT', path, { op })
  return number
}

function assertName(name: string, path: string, op: string): void {
  const isStorable = name.isWellFormed() && !name.includes('\0')
  if (name !== '' && isStorable && Buffer.byteLength(name) <= MAX_NAME_BYTES) return
  const detail = `'${name}' is not a valid ${op} name; use 1 to ${MAX_NAME_BYTES} bytes of text without NUL`
  throw new VfsError('EINVAL', path, { op, detail })
}
