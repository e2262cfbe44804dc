import { type CallContext, child, type FileSystem, isVfsError, list, strict } from '../../vfs/index.ts'
import type { Completer } from '../completions-feature.ts'
import { PATH_VARIABLE } from './file-resources.ts'

/**
 * Completes the path of the file template name by name; a directory ends in a slash. A path that cannot be
 * read is not offered: one with `..` has no completion.
 */
export function createPathCompleter(fs: FileSystem, ctx: CallContext): Completer {
  return async ({ ref, argument }, signal) => {
    if (ref.type !== 'ref/resource' || argument.name !== PATH_VARIABLE) return []
    const typed = argument.value.replace(/^\//, '')
    const end = typed.lastIndexOf('/')
    const directory = end === -1 ? '/' : `/${typed.slice(0, end)}`
    const start = typed.slice(end + 1)
    const entries = await listEntries(fs, directory, { ...ctx, signal })
    return entries
      .filter(({ name }) => name.startsWith(start))
      .map(({ name, type }) => child(directory, name).slice(1) + (type === 'directory' ? '/' : ''))
  }
}

async function listEntries(
  fs: FileSystem,
  directory: string,
  ctx: CallContext,
): Promise<Awaited<ReturnType<typeof list>>> {
  try {
    return await list(fs, strict(directory), ctx)
  } catch (error) {
    // An incomplete path is no error: there is nothing to offer yet.
    if (isVfsError(error)) return []
    throw error
  }
}
