import { type CallContext, type FileSystem, isLinkable, isSynchronous } from '../../vfs/index.ts'

/** Where a path leads once all its links are followed; what does not exist stays as it is. ELOOP. */
export async function followLinks(fs: FileSystem, path: string, ctx?: CallContext): Promise<string> {
  if (!isLinkable(fs)) return path
  const options = { followLast: true }
  return isSynchronous(fs) ? fs.sync.realpath(path, options, ctx) : fs.realpath(path, options, ctx)
}
