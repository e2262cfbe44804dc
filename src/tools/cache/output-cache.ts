import { asSystem } from '../../access/index.ts'
import { type CallContext, child, type FileSystem, isVfsError } from '../../vfs/index.ts'
import { getCutPosition } from '../text/character-cut.ts'
import { CacheUsage, type SweepScope } from './cache-usage.ts'
import { type CachedOutput, createOutputId, getCacheDirectory, parseCachedOutput } from './cached-output.ts'
import { formatStub } from './stub.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const PIECE_LENGTH = 64 * 1024

/** Options of an `OutputCache`. */
export interface OutputCacheOptions {
  /** Longest output in characters that is returned whole; 4000 when absent. */
  readonly threshold?: number
  /** Limit of the preview in a stub; 2000 characters when absent. */
  readonly previewChars?: number
  /** Age in days after which outputs are removed; 7 when absent. */
  readonly maxAgeDays?: number
  /** Limit of all outputs of one context, in bytes; evicts the oldest. 256 MiB when absent. */
  readonly maxBytes?: number
  /** Clock for the age of outputs. */
  readonly now?: () => number
  /** Shared by the caches of one directory in this program, so that not each of them sweeps it. */
  readonly usage?: CacheUsage
}

/** Output for the caller of a tool. */
export interface ToolOutput {
  /** The whole output, or a stub. */
  readonly text: string
  /** Absent if the text is the whole output. */
  readonly cached?: CachedOutput
}

/**
 * Stores long outputs as files of `/sys/tool_cache/<context>`, written by the system and readable by all.
 * There is no timer: a write evicts old outputs, at most once an hour unless space is
 * needed. Several processes may share one cache; the next sweep of any of them enforces the limits.
 */
export class OutputCache {
  readonly #fs: FileSystem
  readonly #options: Required<OutputCacheOptions>

  /** @param fs file system with `/sys/tool_cache`; called as the system. */
  constructor(fs: FileSystem, options: OutputCacheOptions = {}) {
    this.#fs = fs
    this.#options = {
      threshold: options.threshold ?? 4000,
      previewChars: options.previewChars ?? 2000,
      maxAgeDays: options.maxAgeDays ?? 7,
      maxBytes: options.maxBytes ?? 256 * 1024 ** 2,
      now: options.now ?? Date.now,
      usage: options.usage ?? new CacheUsage(),
    }
  }

  /**
   * Returns an output itself if it is short or blank, or cannot be cached, otherwise a stub.
   * For successful outputs; errors must not be hidden. Fails only if the signal aborts, or for an
   * invalid context: EINVAL.
   */
  async keep(context: string, tool: string, output: string, ctx?: CallContext): Promise<ToolOutput> {
    const directory = getCacheDirectory(context)
    if (output.length <= this.#options.threshold || !/\S/.test(output)) return { text: output }
    const cached = await this.#store(directory, tool, output, ctx)
    if (cached === undefined) return { text: output }
    await this.#makeRoom(cached)
    return { text: formatStub(cached, output, this.#options.previewChars), cached }
  }

  /** Lists the cached outputs of one context or of all, oldest first. */
  async list(context?: string): Promise<CachedOutput[]> {
    const found: CachedOutput[] = []
    const maxDepth = context === undefined ? 2 : 1
    for await (const { path, stat } of this.#fs.walk(getCacheDirectory(context), { maxDepth }, asSystem)) {
      const cached = stat.type === 'file' ? parseCachedOutput(path, stat.size, stat.mtime) : undefined
      if (cached) found.push(cached)
    }
    return found.sort((one, other) => one.time.getTime() - other.time.getTime())
  }

  /** Removes the cached outputs of one context or of all, optionally before a time; returns their number. */
  async clear(context?: string, olderThan?: Date): Promise<number> {
    const outputs = await this.list(context)
    const limit = olderThan?.getTime() ?? Number.POSITIVE_INFINITY
    return this.#remove(outputs.filter(({ time }) => time.getTime() < limit))
  }

  async #store(
    directory: string,
    tool: string,
    output: string,
    ctx?: CallContext,
  ): Promise<CachedOutput | undefined> {
    const path = child(directory, createOutputId(tool))
    const content = output.length > PIECE_LENGTH ? splitPieces(output) : output
    try {
      await this.#fs.write(path, content, {}, { ...ctx, ...asSystem })
    } catch {
      ctx?.signal?.throwIfAborted()
      return undefined
    }
    return parseCachedOutput(path, Buffer.byteLength(output), new Date(this.#options.now()))
  }

  async #makeRoom(newest: CachedOutput): Promise<void> {
    const { now, usage, maxBytes } = this.#options
    const scope = usage.add(newest.context, newest.bytes, { now: now(), maxBytes })
    if (scope === undefined) return
    try {
      await this.#sweep(scope, newest)
    } catch (error) {
      // The output is stored; the next sweep retries the removal.
      if (!isVfsError(error)) throw error
    }
  }

  /** Removes outputs beyond the limits, but never the newest. */
  async #sweep(scope: NonNullable<SweepScope>, newest: CachedOutput): Promise<void> {
    const minTime = this.#options.now() - this.#options.maxAgeDays * DAY_MS
    const byContext = Map.groupBy(
      await this.list(scope === 'all' ? undefined : scope.context),
      ({ context }) => context,
    )
    for (const [name, outputs] of byContext) {
      let total = outputs.reduce((sum, { bytes }) => sum + bytes, 0)
      const evicted: CachedOutput[] = []
      for (const output of outputs) {
        const isBeyondLimit = total > this.#options.maxBytes || output.time.getTime() < minTime
        if (!isBeyondLimit || output.path === newest.path) continue
        total -= output.bytes
        evicted.push(output)
      }
      this.#options.usage.set(name, total)
      await this.#remove(evicted)
    }
  }

  async #remove(outputs: readonly CachedOutput[]): Promise<number> {
    let removed = 0
    for (const { path } of outputs) {
      try {
        await this.#fs.remove(path, {}, asSystem)
        removed++
      } catch (error) {
        // Another process removed it first.
        if (!isVfsError(error, 'ENOENT')) throw error
      }
    }
    return removed
  }
}

/** Splits a text into pieces, so that its bytes are never all in memory; no character is split. */
async function* splitPieces(text: string): AsyncGenerator<string> {
  for (let start = 0; start < text.length; ) {
    const end = getCutPosition(text, Math.min(start + PIECE_LENGTH, text.length))
    yield text.slice(start, end)
    start = end
  }
}
