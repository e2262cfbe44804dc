import { AsyncResource } from 'node:async_hooks'
import type {
  ByteString,
  CpOptions,
  FileContent,
  FsStat,
  IFileSystem,
  MkdirOptions,
  RmOptions,
} from 'just-bash'
import {
  assertFileSystem,
  type CallContext,
  type DirEntry,
  type FileSystem,
  isLinkable,
  normalize,
  resolve,
  VfsError,
} from '../../vfs/index.ts'
import { listAllPaths } from './all-paths.ts'
import { type BashCall, toCallError } from './call-error.ts'
import { ShellChanges } from './shell-changes.ts'
import { ShellView } from './shell-view.ts'
import { SystemFiles } from './system-files.ts'
import { toByteString, toBytes, toText } from './text-encoding.ts'

/** Options of `bashFileSystem`. */
export interface BashFileSystemOptions {
  /** Context of every call to the file system: the identity of the caller. */
  readonly ctx?: CallContext
}

/** Directory entries with types, as just-bash lists them. */
type Dirents = Awaited<ReturnType<NonNullable<IFileSystem['readdirWithFileTypes']>>>
type ReadEncoding = Parameters<IFileSystem['readFile']>[1]
type WriteEncoding = Parameters<IFileSystem['writeFile']>[2]

/**
 * Adapts any file system to just-bash: `new Bash({ fs: bashFileSystem(fs) })`. Nothing is cached, so both sides see
 * changes at once. Create it outside of `exec`: just-bash blocks timers in the asynchronous context of a running script, so
 * this calls the file system in the context in which it was created.
 */
export function bashFileSystem(fs: FileSystem, options: BashFileSystemOptions = {}): IFileSystem {
  return new BashFileSystem(fs, options)
}

class BashFileSystem implements IFileSystem {
  readonly #fs: FileSystem
  readonly #ctx: CallContext | undefined
  readonly #system = new SystemFiles()
  readonly #view: ShellView
  readonly #changes: ShellChanges
  readonly #outsideScope = new AsyncResource('coppice:just-bash')

  constructor(fs: FileSystem, { ctx }: BashFileSystemOptions) {
    assertFileSystem(fs, '/', 'just-bash')
    this.#fs = fs
    this.#ctx = ctx
    this.#view = new ShellView(fs, this.#system, ctx)
    this.#changes = new ShellChanges(fs, this.#system, this.#view, ctx)
  }

  async readFile(path: string, encoding?: ReadEncoding): Promise<string> {
    return toText(await this.readFileBuffer(path), encoding)
  }

  async readFileBytes(path: string): Promise<ByteString> {
    return toByteString(await this.readFileBuffer(path))
  }

  readFileBuffer(path: string): Promise<Uint8Array> {
    return this.#call('open', path, (canonical) => this.#view.read(canonical))
  }

  writeFile(path: string, content: FileContent, encoding?: WriteEncoding): Promise<void> {
    return this.#call('write', path, (canonical) =>
      this.#changes.write(canonical, toBytes(content, encoding)),
    )
  }

  appendFile(path: string, content: FileContent, encoding?: WriteEncoding): Promise<void> {
    return this.#call('append', path, (canonical) =>
      this.#changes.append(canonical, toBytes(content, encoding)),
    )
  }

  exists(path: string): Promise<boolean> {
    return this.#call('stat', path, (canonical) => this.#view.exists(canonical))
  }

  stat(path: string): Promise<FsStat> {
    return this.#call('stat', path, (canonical) => this.#view.stat(canonical))
  }

  lstat(path: string): Promise<FsStat> {
    return this.#call('lstat', path, (canonical) => this.#view.lstat(canonical))
  }

  mkdir(path: string, { recursive = false }: MkdirOptions = {}): Promise<void> {
    return this.#call('mkdir', path, (canonical) => this.#changes.mkdir(canonical, recursive))
  }

  async readdir(path: string): Promise<string[]> {
    return (await this.#list(path)).map(({ name }) => name)
  }

  async readdirWithFileTypes(path: string): Promise<Dirents> {
    return (await this.#list(path)).map(({ name, type }) => ({
      name,
      isFile: type === 'file' || type === 'other',
      isDirectory: type === 'directory',
      isSymbolicLink: type === 'symlink',
    }))
  }

  rm(path: string, { recursive = false, force = false }: RmOptions = {}): Promise<void> {
    return this.#call('rm', path, (canonical) => this.#changes.remove(canonical, { recursive, force }))
  }

  cp(from: string, to: string, { recursive = false }: CpOptions = {}): Promise<void> {
    return this.#call('cp', from, (canonical) => this.#changes.copy(canonical, normalize(to), recursive))
  }

  mv(from: string, to: string): Promise<void> {
    return this.#call('mv', from, (canonical) => this.#changes.move(canonical, normalize(to)))
  }

  chmod(path: string, mode: number): Promise<void> {
    return this.#call('chmod', path, (canonical) => this.#changes.setattr(canonical, { mode: mode & 0o7777 }))
  }

  utimes(path: string, _atime: Date, mtime: Date): Promise<void> {
    return this.#call('utimes', path, (canonical) => this.#changes.setattr(canonical, { mtime }))
  }

  symlink(target: string, path: string): Promise<void> {
    return this.#call('symlink', path, (canonical) => this.#changes.symlink(target, canonical))
  }

  link(existing: string, path: string): Promise<void> {
    return this.#call('link', existing, (canonical) => this.#changes.link(canonical, normalize(path)))
  }

  readlink(path: string): Promise<string> {
    return this.#call('readlink', path, async (canonical) => {
      if (isLinkable(this.#fs)) return this.#fs.readlink(canonical, this.#ctx)
      await this.#fs.stat(canonical, this.#ctx)
      throw new VfsError('EINVAL', canonical, { op: 'readlink', detail: 'not a symbolic link' })
    })
  }

  realpath(path: string): Promise<string> {
    return this.#call('realpath', path, (canonical) => this.#view.realpath(canonical))
  }

  resolvePath(base: string, path: string): string {
    return resolve(base, path)
  }

  /** Lists all paths synchronously. just-bash needs them only for `ls` of a quoted pattern. */
  getAllPaths(): string[] {
    return listAllPaths(this.#fs, this.#system, this.#ctx)
  }

  /**
   * Adds a directory of the shell itself, such as /bin, which is not in the file system. The constructor of `Bash` calls this
   * method and `writeFileSync` if an adapter has them.
   */
  mkdirSync(path: string): void {
    this.#system.makeDirectory(path)
  }

  writeFileSync(path: string, content: string | Uint8Array): void {
    this.#system.putFile(path, content)
  }

  #list(path: string): Promise<DirEntry[]> {
    return this.#call('scandir', path, (canonical) => this.#view.readdir(canonical))
  }

  /** Runs a call outside of just-bash's sandbox, and converts its errors. All asynchronous calls pass through here. */
  #call<T>(call: BashCall, path: string, run: (path: string) => Promise<T>): Promise<T> {
    return this.#outsideScope.runInAsyncScope(async () => {
      try {
        return await run(normalize(path))
      } catch (error) {
        throw toCallError(error, call)
      }
    })
  }
}
