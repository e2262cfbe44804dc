/**
 * The few services that file systems take from their runtime. Node, Bun and Deno have native ones; a browser has none
 * of them, so each has a substitute. They are looked up and not imported, so that `vfs` bundles for any runtime.
 */
import { Sha256 } from './sha256.ts'

/** Concurrency where the runtime does not know its number of cores. */
const DEFAULT_CORES = 4

/** A SHA-256 in the making. */
export interface Hasher {
  /** Adds bytes. */
  update(bytes: Uint8Array): unknown
  /** Returns the hash in hex. */
  digest(encoding: 'hex'): string
}

/** Returns the module lookup of the runtime, or undefined in a browser. */
function findBuiltins(): typeof process.getBuiltinModule | undefined {
  return typeof process === 'undefined' ? undefined : process.getBuiltinModule
}

/** Modules of the runtime by name, each loaded when it is first used; undefined in a browser. */
const builtins = findBuiltins()

let cryptography: typeof import('node:crypto') | undefined

/** Returns the cryptography of the runtime. It takes ten milliseconds to load, so that is left until it is used. */
function findCryptography(): typeof import('node:crypto') | undefined {
  cryptography ??= builtins?.('node:crypto')
  return cryptography
}

/** Starts a SHA-256. */
export function createSha256(): Hasher {
  return findCryptography()?.createHash('sha256') ?? new Sha256()
}

/** Returns the SHA-256 of bytes, in hex. */
export function sha256(bytes: Uint8Array): string {
  const native = findCryptography()?.hash('sha256', bytes)
  if (native !== undefined) return native
  const state = new Sha256()
  state.update(bytes)
  return state.digest()
}

/** Lets other work of the process run: input, output and timers. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => void schedule(resolve))
}

const schedule: (run: () => void) => unknown = builtins?.('node:timers').setImmediate ?? setTimeout

/** Tracing channels of the runtime; undefined where there are none, and then nothing is traced. */
export const diagnostics: typeof import('node:diagnostics_channel') | undefined =
  builtins?.('node:diagnostics_channel')

/** Prevents a buffer from being transferred to another thread, where the runtime can. */
export function markAsUntransferable(buffer: ArrayBufferLike): void {
  builtins?.('node:worker_threads').markAsUntransferable(buffer)
}

const unmarked: ArrayBufferLike[] = []

/**
 * Does what `markAsUntransferable` does at the end of this turn: the module for it takes four milliseconds to load. For
 * buffers that nobody else gets.
 */
export function markAsUntransferableLater(buffer: ArrayBufferLike): void {
  if (builtins === undefined) return
  if (unmarked.push(buffer) > 1) return
  schedule(() => {
    for (const each of unmarked.splice(0)) markAsUntransferable(each)
  })
}

/**
 * Returns a piece of the pool of Node's buffers, which cannot be transferred; undefined where there is no such pool. Its
 * content is arbitrary.
 */
export function takePooledBytes(length: number): Uint8Array | undefined {
  const bytes = builtins && globalThis.Buffer.allocUnsafe(length)
  if (bytes === undefined || bytes.buffer.byteLength === length) return undefined
  return new Uint8Array(bytes.buffer, bytes.byteOffset, length)
}

/** Returns the number of cores. */
export function countCores(): number {
  return globalThis.navigator?.hardwareConcurrency ?? DEFAULT_CORES
}
