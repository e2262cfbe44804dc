import { VfsError } from '../../../vfs/index.ts'
import { modeOf } from '../arguments.ts'
import { type Flags, flagsOf } from '../flags.ts'
import { codeOf } from '../node-error.ts'
import { OpenFile } from '../open-file.ts'
import { type Operation, onPath } from '../operation.ts'
import { assertParent, followedIfPresent, lstatIfPresent, type Site } from '../site.ts'
import { type Steps, settled } from '../steps.ts'

const NOTHING = new Uint8Array(0)

/** Gives a number for the open file. */
export const open: Operation<number> = onPath('open', function* (site, path, flags, mode) {
  return site.descriptors.add(yield* opened(site, path, flagsOf(flags, 'r'), modeOf(mode, 0o666)))
})

export const close: Operation<void> = function* (site, fd) {
  yield* site.descriptors.take(fd).close()
}

/** Opens a path as the kernel does with these flags. */
export function* opened(site: Site, path: string, flags: Flags, mode: number): Steps<OpenFile> {
  const { ground } = site
  const link = flags.exclusive || flags.noFollow ? yield* lstatIfPresent(site, path) : undefined
  if (flags.exclusive && link !== undefined) throw new VfsError('EEXIST', path)
  if (flags.noFollow && link?.type === 'symlink') throw new VfsError('ELOOP', path)
  const found = yield* followedIfPresent(site, path)
  if (found?.type === 'directory') return yield* openedDirectory(site, path, flags)
  if (found === undefined) yield* create(site, path, flags, mode)
  else if (flags.directory) throw new VfsError('ENOTDIR', path)
  const real = yield* settled(ground.realpath(path))
  const { write, append } = flags
  const options = { write, append, truncate: flags.truncate && found !== undefined }
  return new OpenFile(ground, real, flags, yield* settled(ground.open(real, options)))
}

function* openedDirectory({ ground }: Site, path: string, flags: Flags): Steps<OpenFile> {
  if (flags.write || flags.create) throw new VfsError('EISDIR', path)
  return new OpenFile(ground, yield* settled(ground.realpath(path)), flags, undefined)
}

/** Makes an empty file, where a link that leads nowhere leads to as well. */
function* create(site: Site, path: string, flags: Flags, mode: number): Steps<void> {
  const { ground, owner } = site
  if (!flags.create) throw new VfsError('ENOENT', path)
  const real = yield* settled(ground.realpath(path))
  yield* assertParent(site, path.endsWith('/') ? path : real, 'EISDIR')
  try {
    yield* settled(ground.writeFile(real, NOTHING, { exclusive: true, mode: mode & ~owner.umask }))
  } catch (error) {
    // Somebody else made it meanwhile: what they wrote must not be lost.
    if (flags.exclusive || codeOf(error) !== 'EEXIST') throw error
  }
}
