import {
  basename,
  type CallContext,
  type FileSystem,
  isHardLinkable,
  isLinkable,
  relativeTo,
  type Stat,
} from '../../vfs/index.ts'

/** Something that goes into an archive. */
export interface PackedEntry {
  readonly path: string
  /** In the archive: relative, of a directory with a `/` at the end. */
  readonly name: string
  readonly stat: Stat
  readonly target?: string
  /** The name under which the same file went in before. */
  readonly sameAs?: string
}

/** Everything below a directory in the order of names, so that equal trees give equal archives. Of a file, that file. ENOENT. */
export async function* listPackedEntries(
  fs: FileSystem,
  root: string,
  ctx: CallContext | undefined,
): AsyncGenerator<PackedEntry> {
  const given = await fs.stat(root, ctx)
  if (given.type === 'file') yield { path: root, name: basename(root), stat: given }
  if (given.type === 'file') return
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
