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
 * changes at once. Create it outside of `exec`: it calls the file system in the asynchronous context of its creation,
 * in which just-bash's hardening does not block timers.
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
  readonly #outside = new AsyncResource('coppice:just-bash')

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
    return this.#call('open', path, (at) => this.#view.read(at))
  }

  writeFile(path: string, content: FileContent, encoding?: WriteEncoding): Promise<void> {
    return this.#call('write', path, (at) => this.#changes.write(at, toBytes(content, encoding)))
  }

  appendFile(path: string, content: FileContent, encoding?: WriteEncoding): Promise<void> {
    return this.#call('append', path, (at) => this.#changes.append(at, toBytes(content, encoding)))
  }

  exists(path: string): Promise<boolean> {
    return this.#call('stat', path, (at) => this.#view.exists(at))
  }

  stat(path: string): Promise<FsStat> {
    return this.#call('stat', path, (at) => this.#view.stat(at))
  }

  lstat(path: string): Promise<FsStat> {
    return this.#call('lstat', path, (at) => this.#view.lstat(at))
  }

  mkdir(path: string, { recursive = false }: MkdirOptions = {}): Promise<void> {
    return this.#call('mkdir', path, (at) => this.#changes.mkdir(at, recursive))
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
    return this.#call('rm', path, (at) => this.#changes.remove(at, { recursive, force }))
  }

  cp(from: string, to: string, { recursive = false }: CpOptions = {}): Promise<void> {
    return this.#call('cp', from, (at) => this.#changes.copy(at, normalize(to), recursive))
  }

  mv(from: string, to: string): Promise<void> {
    return this.#call('mv', from, (at) => this.#changes.move(at, normalize(to)))
  }

  chmod(path: string, mode: number): Promise<void> {
    return this.#call('chmod', path, (at) => this.#changes.setattr(at, { mode: mode & 0o7777 }))
  }

  utimes(path: string, _atime: Date, mtime: Date): Promise<void> {
    return this.#call('utimes', path, (at) => this.#changes.setattr(at, { mtime }))
  }

  symlink(target: string, path: string): Promise<void> {
    return this.#call('symlink', path, (at) => this.#changes.symlink(target, at))
  }

  link(existing: string, path: string): Promise<void> {
    return this.#call('link', existing, (at) => this.#changes.link(at, normalize(path)))
  }

  readlink(path: string): Promise<string> {
    return this.#call('readlink', path, async (at) => {
      if (isLinkable(this.#fs)) return this.#fs.readlink(at, this.#ctx)
      await this.#fs.stat(at, this.#ctx)
      throw new VfsError('EINVAL', at, { op: 'readlink', detail: 'not a symbolic link' })
    })
  }

  realpath(path: string): Promise<string> {
    return this.#call('realpath', path, (at) => this.#view.realpath(at))
  }

  resolvePath(base: string, path: string): string {
    return resolve(base, path)
  }

  /** Used by just-bash only for `ls` of a quoted pattern. */
  getAllPaths(): string[] {
    return listAllPaths(this.#fs, this.#system, this.#ctx)
  }

  /** For the constructor of `Bash`, which populates file systems that have this and `writeFileSync`. */
  mkdirSync(path: string): void {
    this.#system.makeDirectory(path)
  }

  writeFileSync(path: string, content: string | Uint8Array): void {
    this.#system.putFile(path, content)
  }

  #list(path: string): Promise<DirEntry[]> {
    return this.#call('scandir', path, (at) => this.#view.readdir(at))
  }

  /** Every call to the file system passes through here. */
  #call<T>(call: BashCall, path: string, run: (path: string) => Promise<T>): Promise<T> {
    return this.#outside.runInAsyncScope(async () => {
      try {
        return await run(normalize(path))
      } catch (error) {
        throw toCallError(error, call)
      }
    })
  }
}
