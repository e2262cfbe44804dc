import { VfsError } from '../../../vfs/index.ts'
import { type Coroutine, waitFor } from '../coroutine.ts'
import { type OpenFlags, parseFlags } from '../flags.ts'
import { assertParent, type FsContext, lstatIfPresent, statIfPresent } from '../fs-context.ts'
import { definePathOperation, type FsOperation } from '../fs-operation.ts'
import { getErrorCode } from '../node-error.ts'
import { OpenNodeFile } from '../open-node-file.ts'
import { parseMode } from '../parse-arguments.ts'

const EMPTY = new Uint8Array(0)

/** Opens a file and returns its descriptor. */
export const open: FsOperation<number> = definePathOperation('open', function* (context, path, flags, mode) {
  return context.descriptors.add(
    yield* openPath(context, path, parseFlags(flags, 'r'), parseMode(mode, 0o666)),
  )
})

export const close: FsOperation<void> = function* (context, fd) {
  yield* context.descriptors.release(fd).close()
}

/** Opens a path as the kernel does with these flags. */
export function* openPath(
  context: FsContext,
  path: string,
  flags: OpenFlags,
  mode: number,
): Coroutine<OpenNodeFile> {
  const { driver } = context
  const unfollowed = flags.exclusive || flags.noFollow ? yield* lstatIfPresent(context, path) : undefined
  if (flags.exclusive && unfollowed !== undefined) throw new VfsError('EEXIST', path)
  if (flags.noFollow && unfollowed?.type === 'symlink') throw new VfsError('ELOOP', path)
  const found = yield* statIfPresent(context, path)
  if (found?.type === 'directory') return yield* openDirectory(context, path, flags)
  if (found === undefined) yield* createFile(context, path, flags, mode)
  else if (flags.directory) throw new VfsError('ENOTDIR', path)
  const real = yield* waitFor(driver.realpath(path))
  const { write, append } = flags
  const options = { write, append, truncate: flags.truncate && found !== undefined }
  return new OpenNodeFile(driver, real, flags, yield* waitFor(driver.open(real, options)))
}

function* openDirectory({ driver }: FsContext, path: string, flags: OpenFlags): Coroutine<OpenNodeFile> {
  if (flags.write || flags.create) throw new VfsError('EISDIR', path)
  return new OpenNodeFile(driver, yield* waitFor(driver.realpath(path)), flags, undefined)
}

/** Creates an empty file, also at the target of a broken link. */
function* createFile(context: FsContext, path: string, flags: OpenFlags, mode: number): Coroutine<void> {
  const { driver, owner } = context
  if (!flags.create) throw new VfsError('ENOENT', path)
  const real = yield* waitFor(driver.realpath(path))
  yield* assertParent(context, path.endsWith('/') ? path : real, 'EISDIR')
  try {
    yield* waitFor(driver.writeFile(real, EMPTY, { exclusive: true, mode: mode & ~owner.umask }))
  } catch (error) {
    // Another caller created it meanwhile: its content must not be lost.
    if (flags.exclusive || getErrorCode(error) !== 'EEXIST') throw error
  }
}
