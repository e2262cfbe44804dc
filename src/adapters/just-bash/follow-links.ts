import { type CallContext, type FileSystem, isLinkable, isSynchronous } from '../../vfs/index.ts'

/** Resolves all links of a path; missing parts stay as they are. ELOOP for a cycle of links. */
export async function followLinks(fs: FileSystem, path: string, ctx?: CallContext): Promise<string> {
  if (!isLinkable(fs)) return path
  const options = { followLast: true }
  return isSynchronous(fs) ? fs.sync.realpath(path, options, ctx) : fs.realpath(path, options, ctx)
}
