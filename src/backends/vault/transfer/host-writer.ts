import {
  closeSync,
  constants,
  fchmodSync,
  futimesSync,
  linkSync,
  lstatSync,
  lutimesSync,
  openSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  writeSync,
  writev,
} from 'node:fs'
import { promisify } from 'node:util'
import { createTemporaryName, isErrno, toUtimesArgument } from '../../../machine/index.ts'
import { checkName } from './host-cursor.ts'
import type { HostDirectory } from './host-directory.ts'
import { HostFault } from './host-fault.ts'
import type { TransferAttributes } from './transfer-attributes.ts'

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants
const NEW_FILE_FLAGS = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
const PRIVATE_MODE = 0o600
/** The permission bits that are exported: setuid and setgid are not. */
export const PLAIN_PERMISSIONS = 0o777
const writevAsync = promisify(writev)

/**
 * `add` throws EEXIST for a name that is taken. `replace` replaces a file, and a link by a link. `fill` is for a
 * directory that nobody else uses yet.
 */
export type HostWriteMode = 'add' | 'replace' | 'fill'

/**
 * Writes one exported file or link: as a temporary file that is renamed, so it appears whole or not at all, and nothing
 * is left behind. With the mode `fill`, writes it at its name at once.
 */
export class HostWriter {
  readonly #directory: HostDirectory
  readonly #name: string
  readonly #mode: HostWriteMode
  readonly #temporary: string

  constructor(directory: HostDirectory, name: string, mode: HostWriteMode) {
    this.#directory = directory
    this.#name = checkName(name)
    this.#mode = mode
    this.#temporary = mode === 'fill' ? name : createTemporaryName()
  }

  /** Writes synchronously; for small files. */
  writeSync(chunks: Iterable<Uint8Array>, attributes: TransferAttributes): void {
    const fd = this.#open(attributes)
    try {
      for (const chunk of chunks) writeAllSync(fd, chunk)
      this.#finish(fd, attributes)
    } catch (error) {
      this.#discard()
      throw error
    } finally {
      closeSync(fd)
    }
  }

  /** Writes asynchronously. Calls `onBytes` after every part; it may throw to stop. */
  async writeAsync(
    parts: AsyncIterable<readonly Uint8Array[]>,
    attributes: TransferAttributes,
    onBytes: (count: number) => void,
  ): Promise<void> {
    const fd = this.#open(attributes)
    try {
      for await (const part of parts) {
        await writeFully(fd, part)
        onBytes(part.reduce((sum, { length }) => sum + length, 0))
      }
      this.#finish(fd, attributes)
    } catch (error) {
      this.#discard()
      throw error
    } finally {
      closeSync(fd)
    }
  }

  /** Creates a link. This is atomic, so only a replacement needs a temporary name. */
  link(target: string, { mtime }: TransferAttributes): void {
    if (this.#mode !== 'replace') symlinkSync(target, this.#directory.at(this.#name))
    else {
      symlinkSync(target, this.#directory.at(this.#temporary))
      try {
        renameSync(this.#directory.at(this.#temporary), this.#directory.at(this.#name))
      } catch (error) {
        this.#discard()
        throw error
      }
    }
    const time = toUtimesArgument(mtime)
    lutimesSync(this.#directory.at(this.#name), time, time)
  }

  #open({ mode }: TransferAttributes): number {
    return openSync(
      this.#directory.at(this.#temporary),
      NEW_FILE_FLAGS,
      this.#mode === 'fill' ? mode & PLAIN_PERMISSIONS : PRIVATE_MODE,
    )
  }

  #finish(fd: number, attributes: TransferAttributes): void {
    setAttributes(fd, attributes, this.#mode === 'fill')
    if (this.#mode === 'replace') this.#renameIntoPlace()
    else if (this.#mode === 'add') this.#linkIntoPlace()
  }

  /** Gives the file its name. Uses a hard link because, unlike a rename, it fails if the name is taken. */
  #linkIntoPlace(): void {
    const [from, to] = [this.#directory.at(this.#temporary), this.#directory.at(this.#name)]
    try {
      linkSync(from, to)
    } catch (error) {
      if (!isErrno(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS')) throw error
      // Without hard links, check and rename; another process may still create the name in between.
      if (lstatSync(to, { throwIfNoEntry: false }))
        throw new HostFault('EEXIST', 'the path exists already; remove it first')
      renameSync(from, to)
      return
    }
    unlinkSync(from)
  }

  #renameIntoPlace(): void {
    const to = this.#directory.at(this.#name)
    const old = lstatSync(to, { throwIfNoEntry: false })
    if (old?.isSymbolicLink())
      throw new HostFault('EEXIST', 'a symbolic link exists already; remove it first')
    renameSync(this.#directory.at(this.#temporary), to)
  }

  #discard(): void {
    try {
      unlinkSync(this.#directory.at(this.#temporary))
    } catch {
      // It has its final name already, or cannot be removed: report the first error.
    }
  }
}

/** Writes a file at a path, in a tree that nobody else uses yet. */
export function writeNewFile(path: string, content: Uint8Array, attributes: TransferAttributes): void {
  const permissions = attributes.mode & PLAIN_PERMISSIONS
  const fd = openSync(path, NEW_FILE_FLAGS, permissions)
  try {
    writeAllSync(fd, content)
    setAttributes(fd, attributes, true)
  } finally {
    closeSync(fd)
  }
}

/** @param isNew the file was created with its permissions, so it lacks only those in the umask of this process. */
function setAttributes(fd: number, { mode, mtime }: TransferAttributes, isNew: boolean): void {
  const permissions = mode & PLAIN_PERMISSIONS
  if (!isNew || (permissions & getUmask()) !== 0) fchmodSync(fd, permissions)
  const time = toUtimesArgument(mtime)
  futimesSync(fd, time, time)
}

function writeAllSync(fd: number, content: Uint8Array): void {
  for (let offset = 0; offset < content.length; ) offset += writeSync(fd, content, offset)
}

let umask: number | undefined

/** Returns the umask of this process. It is read once: nothing of ours changes it. */
function getUmask(): number {
  umask ??= process.umask()
  return umask
}

async function writeFully(fd: number, part: readonly Uint8Array[]): Promise<void> {
  let rest = [...part]
  while (rest.length > 0) {
    let { bytesWritten } = await writevAsync(fd, rest)
    const after: Uint8Array[] = []
    for (const chunk of rest) {
      if (bytesWritten < chunk.length) after.push(chunk.subarray(bytesWritten))
      bytesWritten = Math.max(0, bytesWritten - chunk.length)
    }
    rest = after
  }
}
