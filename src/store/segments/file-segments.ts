import { closeSync, fstatSync, openSync, readdirSync, readSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isErrno, loadFsPromises, makePrivateDirectory, makePrivateFile } from '../../machine/index.ts'
import { toCommitError } from '../engines/engine-errors.ts'
import { createUploadCollectedError } from '../missing-error.ts'
import { isSegmentName } from './segment-row.ts'
import type { SegmentInfo, SegmentStore } from './segment-store.ts'

/** Limit of segments that stay open for reads. */
const MAX_OPEN_FILES = 16
/** Minimum size of a read that continues the last one: fewer calls, and fewer buffers to collect. */
const READ_AHEAD_BYTES = 256 * 1024
/** A segment that is not read for this time is closed: a deleted one takes space while it is open. */
const IDLE_MS = 1000

export interface FileSegmentsOptions {
  /** Called before a segment of this size is written; throws ENOSPC to keep the rest of the disk. */
  readonly assertSpace?: (bytes: number) => void
}

/** Segments as files of a directory, which is created with the first of them. */
export class FileSegments implements SegmentStore {
  readonly concurrency = 2
  readonly readOnlyReason = undefined
  readonly #directory: string
  readonly #assertSpace: (bytes: number) => void
  /** Descriptors by name, the least recently opened first. */
  readonly #descriptors = new Map<string, number>()
  /** The last range that was read ahead, since reads came in order. */
  #ahead: { readonly name: string; readonly start: number; readonly bytes: Uint8Array } | undefined
  /** Segment and end of the last read. */
  #lastRead = { name: '', end: 0 }
  #idleTimer: NodeJS.Timeout | undefined
  #wasRead = false

  constructor(directory: string, { assertSpace = () => {} }: FileSegmentsOptions = {}) {
    this.#directory = directory
    this.#assertSpace = assertSpace
  }

  locate(name: string): string {
    return join(this.#directory, name)
  }

  async put(name: string, parts: readonly Uint8Array[]): Promise<void> {
    const path = this.locate(name)
    try {
      this.#assertSpace(parts.reduce((sum, { length }) => sum + length, 0))
      makePrivateDirectory(this.#directory)
      makePrivateFile(path)
      await writeFile(path, parts)
      await syncDirectory(this.#directory)
    } catch (error) {
      rmSync(path, { force: true })
      // A collection deletes what no session holds, also between two of these steps.
      throw isErrno(error, 'ENOENT') ? createUploadCollectedError(error) : toCommitError(error)
    }
  }

  read(name: string, offset: number, length: number): Uint8Array | undefined {
    const fd = this.#descriptors.get(name) ?? this.#openFile(name)
    if (fd === undefined) return undefined
    this.#wasRead = true
    const ahead = this.#findAhead(name, offset, length)
    if (ahead !== undefined) return ahead
    const isSequential = this.#lastRead.name === name && this.#lastRead.end === offset
    this.#lastRead = { name, end: offset + length }
    if (!isSequential) return readRange(fd, offset, length)
    const start = offset
    this.#ahead = { name, start, bytes: readRange(fd, offset, Math.max(length, READ_AHEAD_BYTES)) }
    return this.#ahead.bytes.subarray(0, length)
  }

  /** Returns a range of what was read ahead, if that has all of it. */
  #findAhead(name: string, offset: number, length: number): Uint8Array | undefined {
    if (this.#ahead?.name !== name) return undefined
    const start = offset - this.#ahead.start
    if (start < 0 || start + length > this.#ahead.bytes.length) return undefined
    this.#lastRead = { name, end: offset + length }
    return this.#ahead.bytes.subarray(start, start + length)
  }

  list(): SegmentInfo[] {
    const names = this.#listNames().filter(isSegmentName)
    return names.flatMap((name) => {
      const found = statSync(this.locate(name), { throwIfNoEntry: false })
      return found === undefined ? [] : [{ name, size: found.size }]
    })
  }

  delete(name: string): void {
    this.#close(name)
    rmSync(this.locate(name), { force: true })
  }

  close(): void {
    clearInterval(this.#idleTimer)
    this.#idleTimer = undefined
    this.#ahead = undefined
    for (const name of [...this.#descriptors.keys()]) this.#close(name)
  }

  #listNames(): string[] {
    try {
      return readdirSync(this.#directory)
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return []
      throw error
    }
  }

  #openFile(name: string): number | undefined {
    let fd: number
    try {
      fd = openSync(this.locate(name), 'r')
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return undefined
      throw error
    }
    this.#descriptors.set(name, fd)
    const [oldest] = this.#descriptors.keys()
    if (this.#descriptors.size > MAX_OPEN_FILES && oldest !== undefined) this.#close(oldest)
    this.#idleTimer ??= setInterval(() => this.#closeIfIdle(), IDLE_MS).unref()
    return fd
  }

  /** Closes everything after a time without reads, and at once what was deleted by another process. */
  #closeIfIdle(): void {
    if (!this.#wasRead) this.close()
    this.#wasRead = false
    for (const [name, fd] of [...this.#descriptors]) if (fstatSync(fd).nlink === 0) this.#close(name)
  }

  #close(name: string): void {
    const fd = this.#descriptors.get(name)
    if (this.#ahead?.name === name) this.#ahead = undefined
    if (fd === undefined) return
    this.#descriptors.delete(name)
    closeSync(fd)
  }
}

/** Reads a range of a file, less if that ends before. */
function readRange(fd: number, offset: number, length: number): Uint8Array {
  const bytes = new Uint8Array(Buffer.allocUnsafeSlow(length).buffer)
  let done = 0
  for (let read = -1; done < length && read !== 0; done += read)
    read = readSync(fd, bytes, done, length - done, offset + done)
  return done === length ? bytes : bytes.subarray(0, done)
}

/**
 * Writes a file and waits for the disk: whatever the durability, power loss must not leave a row without its content.
 */
async function writeFile(path: string, parts: readonly Uint8Array[]): Promise<void> {
  const handle = await loadFsPromises().open(path, 'r+')
  try {
    for (const part of parts) {
      for (let done = 0; done < part.length; )
        done += (await handle.write(part, done, part.length - done, null)).bytesWritten
    }
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function syncDirectory(path: string): Promise<void> {
  const handle = await loadFsPromises().open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
