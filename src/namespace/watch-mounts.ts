import {
  type CallContext,
  checkPath,
  type FileSystem,
  isWatchable,
  isWithin,
  join,
  type PathChange,
  relativeTo,
} from '../vfs/index.ts'

interface WatchedMount {
  readonly path: string
  readonly fs: FileSystem
}

/**
 * Yields changes at or below a path, by any process, from every mount that reports them, until the loop is left.
 * Paths are those of the namespace. Skips changes below a mount point of another mount, which hides them.
 * @param mounts longest mount point first.
 */
export async function* watchMounts(
  mounts: readonly WatchedMount[],
  path: string,
  ctx: CallContext = {},
): AsyncGenerator<PathChange> {
  const top = checkPath(path, 'watch')
  const stop = new AbortController()
  const signal = ctx.signal === undefined ? stop.signal : AbortSignal.any([ctx.signal, stop.signal])
  const isShown = (path: string, mount: WatchedMount) =>
    mounts.find((candidate) => isWithin(path, candidate.path)) === mount
  const concerned = mounts.filter((mount) => isWithin(mount.path, top) || isShown(top, mount))
  const feed = new MergedStream(concerned.map((mount) => watchMount(mount, top, { ...ctx, signal }, isShown)))
  try {
    yield* feed.items()
  } finally {
    stop.abort()
    await feed.ended
  }
}

/** Yields the changes of one mount with the namespace's paths; none if it does not report them. */
async function* watchMount(
  mount: WatchedMount,
  top: string,
  ctx: CallContext,
  isShown: (path: string, mount: WatchedMount) => boolean,
): AsyncGenerator<PathChange> {
  if (!isWatchable(mount.fs)) return
  const inner = relativeTo(top, mount.path) ?? ''
  const toOuterPath = (path: string) => join(mount.path, path.slice(1))
  for await (const change of mount.fs.watch(`/${inner}`, ctx)) {
    const path = toOuterPath(change.path)
    const from = change.from === undefined ? undefined : toOuterPath(change.from)
    if (isShown(path, mount)) yield { ...change, path, ...(from !== undefined && { from }) }
  }
}

/** Merges several endless streams in the order of their events. */
class MergedStream<T> {
  readonly #queued: T[] = []
  /** Resolves when every stream has ended or failed. */
  readonly ended: Promise<void>
  #failure: { readonly error: unknown } | undefined
  #hasEnded = false
  #news = Promise.withResolvers<void>()

  constructor(streams: readonly AsyncIterable<T>[]) {
    const pumps = streams.map((stream) => this.#pump(stream))
    this.ended = Promise.all(pumps).then(() => {
      this.#hasEnded = true
      this.#news.resolve()
    })
  }

  async *items(): AsyncGenerator<T> {
    for (;;) {
      yield* this.#queued.splice(0)
      if (this.#queued.length > 0) continue
      if (this.#failure !== undefined) throw this.#failure.error
      if (this.#hasEnded) return
      await this.#news.promise
      this.#news = Promise.withResolvers<void>()
    }
  }

  async #pump(stream: AsyncIterable<T>): Promise<void> {
    try {
      for await (const item of stream) {
        this.#queued.push(item)
        this.#news.resolve()
      }
    } catch (error) {
      this.#failure ??= { error }
      this.#news.resolve()
    }
  }
}
