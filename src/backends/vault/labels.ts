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

/** What labels need of a vault. */
export interface LabelSource {
  look<T>(see: (files: VaultFiles) => T): T | Promise<T>
  submit(plan: OperationPlan, by: Provenance): Promise<void>
}

const MAX_NAME_BYTES = 255

/** Tags on files: names to find them by. They stay with a file when it is renamed, and go when it is removed. */
export class Tags {
  readonly #source: LabelSource

  constructor(source: LabelSource) {
    this.#source = source
  }

  /** Puts tags on a file or directory. ENOENT, EINVAL. */
  async add(path: string, tags: string | readonly string[], ctx?: CallContext): Promise<void> {
    await this.#change(path, toList(tags), [], ctx)
  }

  /** Takes tags off; those it does not have are no error. ENOENT. */
  async remove(path: string, tags: string | readonly string[], ctx?: CallContext): Promise<void> {
    await this.#change(path, [], toList(tags), ctx)
  }

  /** The tags of a file, in order. ENOENT. */
  async of(path: string): Promise<string[]> {
    const checked = checkPath(path, 'tag')
    return this.#source.look((files) => listTags(files, getInodeNumber(files, checked, 'tag')))
  }

  /** The paths that have a tag, in order. */
  async find(tag: string): Promise<string[]> {
    return this.#source.look((files) => {
      const paths: string[] = []
      for (const tagged of listTaggedFiles(files, `${tag}\0`)) {
        if (tagged.tag !== tag) break
        paths.push(files.getPath(tagged.inode))
      }
      return paths.sort()
    })
  }

  /** Every tag in use, with how many have it. */
  async all(): Promise<{ tag: string; count: number }[]> {
    return this.#source.look((files) => {
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

/** Metadata of files: keys and values of the user's own. */
export class Metadata {
  readonly #source: LabelSource

  constructor(source: LabelSource) {
    this.#source = source
  }

  /** ENOENT, EINVAL. */
  async set(path: string, key: string, value: string, ctx?: CallContext): Promise<void> {
    const checked = checkPath(path, 'meta')
    assertName(key, checked, 'meta')
    if (!value.isWellFormed()) {
      const detail = `the value of '${key}' has half a character; encode bytes as text, such as base64`
      throw new VfsError('EINVAL', checked, { op: 'meta', detail })
    }
    await this.#source.submit(
      () => ({ op: 'meta', path: checked, values: { [key]: value } }),
      toProvenance(ctx),
    )
  }

  /** The value of a key; undefined if it has none. ENOENT. */
  async get(path: string, key: string): Promise<string | undefined> {
    const all = await this.all(path)
    return Object.hasOwn(all, key) ? all[key] : undefined
  }

  /** Takes a key away; one that is not there is no error. ENOENT. */
  async remove(path: string, key: string, ctx?: CallContext): Promise<void> {
    const checked = checkPath(path, 'meta')
    await this.#source.submit(
      () => ({ op: 'meta', path: checked, values: { [key]: null } }),
      toProvenance(ctx),
    )
  }

  /** ENOENT. */
  async all(path: string): Promise<Record<string, string>> {
    const checked = checkPath(path, 'meta')
    return this.#source.look((files) => readMetadata(files, getInodeNumber(files, checked, 'meta')))
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
  const detail = `'${name}' is no name for a ${op}: 1 to ${MAX_NAME_BYTES} bytes of text without NUL`
  throw new VfsError('EINVAL', path, { op, detail })
}
