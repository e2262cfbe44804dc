import { hash } from 'node:crypto'
import { decodeText } from './line-stream.ts'

const MAX_CONTENTS = 64
const MAX_BYTES = 4 * 1024 * 1024

/** The content of a small file, with what is derived from it once. */
export class RecentContent {
  readonly bytes: Uint8Array
  /** The SHA-256 of the bytes in hex. */
  readonly version: string
  #text: string | undefined

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.version = hash('sha256', bytes)
  }

  /** Returns the decoded text. EINVAL if the file is binary; `path` is its name for the message. */
  getText(path: string): string {
    this.#text ??= decodeText(this.bytes, path)
    return this.#text
  }
}

/**
 * The contents that were read last, by path. Agents page through a file, and read it again: to compare its bytes takes
 * a hundredth of the time that hashing and decoding them does.
 */
export class RecentContents {
  readonly #contents = new Map<string, RecentContent>()
  #size = 0

  /** Returns the content with these bytes, of which it keeps a copy. */
  get(path: string, bytes: Uint8Array): RecentContent {
    const known = this.#contents.get(path)
    if (known !== undefined && Buffer.compare(known.bytes, bytes) === 0) return known
    const content = new RecentContent(new Uint8Array(bytes))
    this.#remove(path)
    this.#contents.set(path, content)
    this.#size += bytes.length
    for (const oldest of this.#contents.keys()) {
      if (this.#contents.size <= MAX_CONTENTS && this.#size <= MAX_BYTES) break
      this.#remove(oldest)
    }
    return content
  }

  #remove(path: string): void {
    this.#size -= this.#contents.get(path)?.bytes.length ?? 0
    this.#contents.delete(path)
  }
}
