import { VfsError } from '../../vfs/index.ts'
import type { S3Call } from './s3-call.ts'

/** The longest key S3 takes, in UTF-8 bytes. */
const MAX_KEY_BYTES = 1024
const MAX_NAME_BYTES = 255

/** The keys of a file system's paths. */
export class KeyMapping {
  /** What every key begins with: nothing, or something that ends with a slash. */
  readonly #prefix: string

  constructor(prefix = '') {
    this.#prefix = prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`
  }

  /** The key of a file. */
  toKey(path: string): string {
    return this.#prefix + path.slice(1)
  }

  /** What the keys below a directory begin with; also the key of the marker some tools make for it. */
  toPrefix(path: string): string {
    return path === '/' ? this.#prefix : `${this.toKey(path)}/`
  }

  /** As `of`, and ENAMETOOLONG if S3 would not store it. */
  toStorableKey({ op, path }: S3Call): string {
    const key = this.toKey(path)
    const bytes = Buffer.byteLength(key)
    if (bytes <= MAX_KEY_BYTES) return key
    const detail = `its key would have ${bytes} bytes, S3 stores ${MAX_KEY_BYTES} at most; use shorter names`
    throw new VfsError('ENAMETOOLONG', path, { op, detail })
  }
}

/** Whether a part of a key between slashes can be a name in a path. */
export function isName(part: string): boolean {
  if (part === '' || part === '.' || part === '..' || part.includes('\0') || !part.isWellFormed())
    return false
  return part.length * 3 <= MAX_NAME_BYTES || Buffer.byteLength(part) <= MAX_NAME_BYTES
}

/**
 * Finds keys below a file, as `a/b` below `a`: no tree can contain both, and listings show the file. Keys must
 * arrive in byte order.
 */
export class ShadowingFiles {
  /** Files the keys from here on may still begin with, each the beginning of the next. */
  readonly #files: string[] = []

  add(file: string): void {
    this.#files.push(file)
  }

  isShadowed(key: string): boolean {
    while (this.#files.length > 0 && !key.startsWith(this.#files.at(-1) ?? '')) this.#files.pop()
    return this.#files.some((file) => key.charAt(file.length) === '/')
  }
}
