import { child, type WalkEntry } from '../../vfs/index.ts'
import type { Call } from './call.ts'
import type { Connection } from './connection.ts'
import { FilesAbove, isName, type Keys } from './keys.ts'
import { type Listed, NameOrder } from './name-order.ts'
import { DIRECTORY, type Found, hasKeys, keyPages } from './pages.ts'

/** The bucket a tree is read from, and for whom. */
export interface Source {
  readonly connection: Connection
  readonly keys: Keys
  readonly call: Call
}

/**
 * What a directory holds, in the order of names, as lazily as that allows.
 * @param whenNothing is asked if no key at all is below the path.
 */
export async function* entriesOf(
  source: Source,
  path: string,
  whenNothing: () => Promise<void>,
): AsyncGenerator<Listed> {
  const { connection, keys, call } = source
  const order = new NameOrder((name) => hasKeys(connection, keys.below(child(path, name)), call))
  for await (const entry of entriesInKeyOrder(source, path, whenNothing)) yield* await order.after(entry)
  yield* order.rest()
}

/** Everything below a path by one flat listing, a directory just before the first key in it. */
export async function* flatWalk(
  { connection, keys, call }: Source,
  root: string,
  includeDirs: boolean,
): AsyncGenerator<WalkEntry> {
  const prefix = keys.below(root)
  const files = new FilesAbove()
  let entered: readonly string[] = []
  for await (const page of keyPages(connection, prefix, {}, call)) {
    for (const { key, stat } of page) {
      if (files.hides(key)) continue
      const names = key.slice(prefix.length).split('/')
      const directories = leadingNames(names)
      const name = names.at(-1) ?? ''
      if (includeDirs) yield* newDirectories(root, directories, entered)
      entered = directories
      // A key that ends with a slash marks a directory, and one with a part that is no name is no path.
      if (directories.length < names.length - 1 || !isName(name)) continue
      files.add(key)
      yield { path: [...directories, name].reduce(child, root), stat }
    }
  }
}

/** What is below a path down to a depth, by one listing for each directory: for walks that need little of a large tree. */
export async function* levelWalk(
  source: Source,
  path: string,
  depth: number,
  includeDirs: boolean,
): AsyncGenerator<WalkEntry> {
  if (depth < 1) return
  for await (const { name, stat } of entriesOf(source, path, async () => {})) {
    const at = child(path, name)
    const isDirectory = stat.type === 'directory'
    if (!isDirectory || includeDirs) yield { path: at, stat }
    if (isDirectory) yield* levelWalk(source, at, depth - 1, includeDirs)
  }
}

async function* entriesInKeyOrder(
  { connection, keys, call }: Source,
  path: string,
  whenNothing: () => Promise<void>,
): AsyncGenerator<Listed> {
  const prefix = keys.below(path)
  const files = new FilesAbove()
  let isThere = false
  for await (const page of keyPages(connection, prefix, { shallow: true }, call)) {
    isThere = true
    for (const found of page) {
      const name = nameIn(prefix, found)
      if (!isName(name) || files.hides(found.key)) continue
      if (found.stat.type === 'file') files.add(found.key)
      yield { name, stat: found.stat }
    }
  }
  if (!isThere) await whenNothing()
}

function nameIn(prefix: string, { key, stat }: Found): string {
  return key.slice(prefix.length, stat.type === 'directory' ? -1 : undefined)
}

/** The directories of a key, up to the first part that is no name. */
function leadingNames(names: readonly string[]): readonly string[] {
  const end = names.findIndex((name, at) => at === names.length - 1 || !isName(name))
  return names.slice(0, end)
}

function* newDirectories(
  root: string,
  directories: readonly string[],
  entered: readonly string[],
): Generator<WalkEntry> {
  let isNew = false
  let path = root
  for (const [at, name] of directories.entries()) {
    path = child(path, name)
    isNew ||= entered[at] !== name
    if (isNew) yield { path, stat: DIRECTORY }
  }
}
