import {
  basename,
  type CallContext,
  type FileSystem,
  isHardLinkable,
  isLinkable,
  relativeTo,
  type Stat,
} from '../../vfs/index.ts'

/** An entry to pack into an archive. */
export interface PackedEntry {
  readonly path: string
  /** The name in the archive: relative, with a trailing `/` for a directory. */
  readonly name: string
  readonly stat: Stat
  readonly target?: string
  /** The earlier name of the same file, for a hard link. */
  readonly sameAs?: string
}

/**
 * Yields everything below a directory in the order of names, so that equal trees give equal archives; or a single file.
 * ENOENT.
 */
export async function* listPackedEntries(
  fs: FileSystem,
  root: string,
  ctx: CallContext | undefined,
): AsyncGenerator<PackedEntry> {
  const rootStat = await fs.stat(root, ctx)
  if (rootStat.type === 'file') yield { path: root, name: basename(root), stat: rootStat }
  if (rootStat.type === 'file') return
  const firstNames = new Map<number, string>()
  for await (const { path, stat } of fs.walk(root, { includeDirs: true }, ctx)) {
    const name = `${relativeTo(path, root)}${stat.type === 'directory' ? '/' : ''}`
    if (stat.type === 'symlink') {
      if (isLinkable(fs)) yield { path, name, stat, target: await fs.readlink(path, ctx) }
    } else if (stat.type === 'file' && isHardLinkable(fs)) {
      const { ino, nlink } = await fs.identity(path, ctx)
      const sameAs = firstNames.get(ino)
      if (nlink > 1 && sameAs === undefined) firstNames.set(ino, name)
      yield sameAs === undefined ? { path, name, stat } : { path, name, stat, sameAs }
    } else if (stat.type !== 'other') yield { path, name, stat }
  }
}
