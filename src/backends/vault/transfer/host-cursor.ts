import { mkdirSync } from 'node:fs'
import { isErrno, makeDirectories, removeAbandonedFiles } from '../../../machine/index.ts'
import { DirectoryStack, type HostDirectory, openHostDirectory } from './host-directory.ts'
import { HostFault, hostError } from './host-fault.ts'

const PRIVATE_MODE = 0o700

/** The current directory of an export on the machine, with its path for messages. */
export class HostCursor {
  readonly #root: string
  readonly #names: string[] = []
  readonly #directories: DirectoryStack

  /** Creates the directory if it is missing. EEXIST if it has to be new and exists. */
  constructor(root: string, isNew = false) {
    this.#root = root
    this.#directories = this.run('', () => {
      const created = createRoot(root)
      if (isNew && created.length === 0)
        throw new HostFault('EEXIST', 'the directory exists already; remove it first')
      return new DirectoryStack(openHostDirectory(root))
    })
  }

  get current(): HostDirectory {
    return this.#directories.current
  }

  /** Enters an existing directory. Returns false if it is missing; throws EEXIST for anything else, links included. */
  enter(name: string): boolean {
    return this.run(name, () => {
      try {
        this.#directories.down(this.current.enter(checkName(name)))
      } catch (error) {
        if (isErrno(error, 'ENOENT')) return false
        if (!isErrno(error, 'ENOTDIR', 'ELOOP') && !(error instanceof HostFault)) throw error
        throw new HostFault(
          'EEXIST',
          'a file or link exists where the export needs a directory; remove it first',
        )
      }
      this.#names.push(name)
      return true
    })
  }

  /** Enters a directory and creates it if it is missing, private until it gets its permissions. */
  enterOrCreate(name: string): void {
    if (this.enter(name)) {
      this.removeLeftovers()
      return
    }
    this.create(name)
  }

  /** Creates a directory and enters it. EEXIST. */
  create(name: string): void {
    this.run(name, () => mkdirSync(this.current.at(checkName(name)), PRIVATE_MODE))
    if (!this.enter(name)) this.run(name, () => throwRemoved())
  }

  /** Removes temporary files of killed exports from this directory. */
  removeLeftovers(): void {
    this.run('', () => removeAbandonedFiles(this.current.self()))
  }

  leave(): void {
    this.run('', () => this.#directories.up())
    this.#names.pop()
  }

  /** Runs a step on a name of this directory. Its errors contain the path on the machine. */
  run<T>(name: string, step: () => T): T {
    try {
      return step()
    } catch (error) {
      throw this.toHostError(error, name)
    }
  }

  /** As `run`, for a path on the machine. */
  runAt<T>(path: string, step: () => T): T {
    try {
      return step()
    } catch (error) {
      throw hostError(error, path, 'export')
    }
  }

  toHostError(error: unknown, name: string): unknown {
    return hostError(error, this.getPath(name), 'export')
  }

  /** Returns the path of a name for messages. */
  getPath(name: string): string {
    return [this.#root, ...this.#names, name].filter((part) => part !== '').join('/')
  }

  close(): void {
    this.#directories.close()
  }
}

/**
 * Returns a name that is safe in a system call. EINVAL for one that would lead the call to another directory: a damaged or
 * foreign tree may contain any name.
 */
export function checkName(name: string): string {
  if (name !== '' && name !== '.' && name !== '..' && !name.includes('/') && !name.includes('\0')) return name
  throw new HostFault('EINVAL', 'no file on this machine can have this name')
}

function throwRemoved(): never {
  throw new HostFault('ECONFLICT', 'the directory was removed meanwhile; try again')
}

/** Creates the directory if it is missing, and returns what it created. */
function createRoot(root: string): string[] {
  try {
    return makeDirectories(root)
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error
    throw new HostFault('ENOENT', 'no directory can be created there; name another one')
  }
}
