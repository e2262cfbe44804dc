import { child, type WalkEntry } from '../../vfs/index.ts'
import { isName, type KeyMapping, ShadowingFiles } from './key-mapping.ts'
import { DIRECTORY_STAT, hasKeys, type ListedKey, listKeyPages } from './list-key-pages.ts'
import { NameSorter, type S3Entry } from './name-sorter.ts'
import type { S3Call } from './s3-call.ts'
import type { S3Connection } from './s3-connection.ts'

/** The bucket to list, and the call to report errors for. */
export interface ListingSource {
  readonly connection: S3Connection
  readonly keys: KeyMapping
  readonly call: S3Call
}

/**
 * Yields the entries of a directory in the order of names, as lazily as that allows.
 * @param whenNothing is called if no key is below the path.
 */
export async function* listEntries(
  source: ListingSource,
  path: string,
  whenNothing: () => Promise<void>,
): AsyncGenerator<S3Entry> {
  const { connection, keys, call } = source
  const order = new NameSorter((name) => hasKeys(connection, keys.toPrefix(child(path, name)), call))
  for await (const entry of listEntriesInKeyOrder(source, path, whenNothing)) yield* await order.push(entry)
  yield* order.flush()
}

/** Walks everything below a path with one flat listing. A directory precedes its first key. */
export async function* walkFlat(
  { connection, keys, call }: ListingSource,
  root: string,
  includeDirs: boolean,
): AsyncGenerator<WalkEntry> {
  const prefix = keys.toPrefix(root)
  const files = new ShadowingFiles()
  let entered: readonly string[] = []
  for await (const page of listKeyPages(connection, prefix, {}, call)) {
    for (const { key, stat } of page) {
      if (files.isShadowed(key)) continue
      const names = key.slice(prefix.length).split('/')
      const directories = getDirectoryNames(names)
      const name = names.at(-1) ?? ''
      if (includeDirs) yield* listNewDirectories(root, directories, entered)
      entered = directories
      // Skips directory markers, which end with a slash, and keys with an invalid name.
      if (directories.length < names.length - 1 || !isName(name)) continue
      files.add(key)
      yield { path: [...directories, name].reduce(child, root), stat }
    }
  }
}

/** Walks down to a depth with one listing per directory, for walks that need little of a large tree. */
export async function* walkByLevel(
  source: ListingSource,
  path: string,
  depth: number,
  includeDirs: boolean,
): AsyncGenerator<WalkEntry> {
  if (depth < 1) return
  for await (const { name, stat } of listEntries(source, path, async () => {})) {
    const entryPath = child(path, name)
    const isDirectory = stat.type === 'directory'
    if (!isDirectory || includeDirs) yield { path: entryPath, stat }
    if (isDirectory) yield* walkByLevel(source, entryPath, depth - 1, includeDirs)
  }
}

async function* listEntriesInKeyOrder(
  { connection, keys, call }: ListingSource,
  path: string,
  whenNothing: () => Promise<void>,
): AsyncGenerator<S3Entry> {
  const prefix = keys.toPrefix(path)
  const files = new ShadowingFiles()
  let isFound = false
  for await (const page of listKeyPages(connection, prefix, { shallow: true }, call)) {
    isFound = true
    for (const found of page) {
      const name = getName(prefix, found)
      if (!isName(name) || files.isShadowed(found.key)) continue
      if (found.stat.type === 'file') files.add(found.key)
      yield { name, stat: found.stat }
    }
  }
  if (!isFound) await whenNothing()
}

function getName(prefix: string, { key, stat }: ListedKey): string {
  return key.slice(prefix.length, stat.type === 'directory' ? -1 : undefined)
}

/** Returns the directory names of a key, up to the first invalid name. */
function getDirectoryNames(names: readonly string[]): readonly string[] {
  const end = names.findIndex((name, index) => index === names.length - 1 || !isName(name))
  return names.slice(0, end)
}

function* listNewDirectories(
  root: string,
  directories: readonly string[],
  entered: readonly string[],
): Generator<WalkEntry> {
  let isNew = false
  let path = root
  for (const [index, name] of directories.entries()) {
    path = child(path, name)
    isNew ||= entered[index] !== name
    if (isNew) yield { path, stat: DIRECTORY_STAT }
  }
}
