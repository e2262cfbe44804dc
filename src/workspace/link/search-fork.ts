import { join } from 'node:path'
import {
  type CallContext,
  compileQuery,
  type FileSystem,
  isVfsError,
  type Match,
  readFile,
  type SearchQuery,
  searchSteps,
} from '../../vfs/index.ts'
import { DirectoryReader } from './directory-reader.ts'
import type { LinkedView } from './linked-view.ts'

/** The files of a fork, as they are searched. */
interface SearchedFork {
  readonly view: LinkedView
  /** The directory of the fork, in which the files that it did not change are read. */
  readonly directory: string
  /** Reads all other files. */
  readonly fs: FileSystem
}

/** Yields the matching lines below a path. A file that cannot be read is left out, unless it is the path itself. */
export async function* searchFork(
  { view, directory, fs }: SearchedFork,
  root: string,
  query: SearchQuery,
  ctx: CallContext | undefined,
): AsyncGenerator<Match> {
  const compiled = compileQuery(query)
  const real = await view.resolve(root, true, 'search', ctx)
  const { type } = await view.stat(real, ctx)
  if (type !== 'directory') {
    yield* searchFile(root, await readFile(fs, real, {}, ctx), compiled, ctx)
    return
  }
  using reader = new DirectoryReader(directory)
  const readContent = (path: string, isUntouched: boolean) =>
    (isUntouched ? (view.readMasked(path) ?? reader.read(path)) : undefined) ?? readFile(fs, path, {}, ctx)
  for await (const { path, stat, isUntouched } of view.walk(real, {}, ctx)) {
    if (stat.type !== 'file') continue
    const shown = real === root ? path : join(root, path.slice(real.length))
    try {
      yield* searchFile(shown, await readContent(path, isUntouched), compiled, ctx)
    } catch (error) {
      if (!isVfsError(error)) throw error
      query.onUnreadable?.(shown, error)
    }
  }
}

/** Yields the matching lines of one file, and lets other work run meanwhile. */
async function* searchFile(
  path: string,
  bytes: Uint8Array,
  query: ReturnType<typeof compileQuery>,
  ctx: CallContext | undefined,
): AsyncGenerator<Match> {
  for (const step of searchSteps(path, bytes, query)) {
    if (step === null) await query.yielder.yield(ctx?.signal)
    else yield step
  }
}
