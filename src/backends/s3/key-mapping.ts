import { VfsError } from '../../vfs/index.ts'
import type { S3Call } from './s3-call.ts'

/** The longest key S3 takes, in UTF-8 bytes. */
const MAX_KEY_BYTES = 1024
const MAX_NAME_BYTES = 255

/** Maps paths to keys. */
export class KeyMapping {
  /** The prefix of every key: empty, or with a trailing slash. */
  readonly #prefix: string

  constructor(prefix = '') {
    this.#prefix = prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`
  }

  /** Returns the key of a file. */
  toKey(path: string): string {
    return this.#prefix + path.slice(1)
  }

  /** Returns the prefix of the keys below a directory, which is also the key of the marker that some tools create. */
  toPrefix(path: string): string {
    return path === '/' ? this.#prefix : `${this.toKey(path)}/`
  }

  /** Returns the key of a file. Throws ENAMETOOLONG if S3 cannot store it. */
  toStorableKey({ op, path }: S3Call): string {
    const key = this.toKey(path)
    const bytes = Buffer.byteLength(key)
    if (bytes <= MAX_KEY_BYTES) return key
    const detail = `the key has ${bytes} bytes, the limit of S3 is ${MAX_KEY_BYTES}; use shorter names`
    throw new VfsError('ENAMETOOLONG', path, { op, detail })
  }
}

/** Reports whether a part of a key can be a name in a path. */
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
  /** Files that may be prefixes of the following keys, each a prefix of the next. */
  readonly #files: string[] = []

  add(file: string): void {
    this.#files.push(file)
  }

  isShadowed(key: string): boolean {
    while (this.#files.length > 0 && !key.startsWith(this.#files.at(-1) ?? '')) this.#files.pop()
    return this.#files.some((file) => key.charAt(file.length) === '/')
  }
}
