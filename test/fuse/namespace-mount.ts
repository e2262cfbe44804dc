import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FileSystemMountOptions, type FuseMount, mountFileSystem } from '../../src/fuse/index.ts'
import type { FileSystem } from '../../src/vfs/index.ts'

/** What a program said and how it ended. */
export interface Said {
  readonly code: number | string | null
  readonly out: string
}

/** A file system mounted in a directory of its own. Dispose of it, and everything is gone. */
export class MountedFiles implements AsyncDisposable {
  readonly mount: FuseMount
  readonly #scratch: string

  private constructor(scratch: string, mount: FuseMount) {
    this.#scratch = scratch
    this.mount = mount
  }

  static async create(
    fs: FileSystem,
    options: Omit<FileSystemMountOptions, 'directory'> = {},
  ): Promise<MountedFiles> {
    const scratch = mkdtempSync(join(tmpdir(), 'coppice-mount-'))
    chmodSync(scratch, 0o755)
    const directory = join(scratch, 'mount')
    mkdirSync(directory)
    return new MountedFiles(scratch, await mountFileSystem(fs, { ...options, directory }))
  }

  get path(): string {
    return this.mount.directory
  }

  /** A plain directory beside it. */
  beside(name: string): string {
    const directory = join(this.#scratch, name)
    mkdirSync(directory)
    return directory
  }

  /** Runs a script in it, as another process: this one has to answer it meanwhile. Everything it said is its output. */
  sh(script: string): Promise<Said> {
    return run(this.path, 'sh', ['-ec', `exec 2>&1; ${script}`])
  }

  python(script: string): Promise<Said> {
    return run(this.path, 'python3', ['-c', script])
  }

  /** Starts a program in it that can be talked to. */
  start(...command: string[]): ChildProcessWithoutNullStreams {
    return spawn('sh', ['-c', INSIDE, this.path, ...command])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.mount[Symbol.asyncDispose]()
    rmSync(this.#scratch, { recursive: true, force: true })
  }
}

/** Runs a program in a directory to its end. */
export function run(directory: string, program: string, args: readonly string[]): Promise<Said> {
  return new Promise((resolve) => {
    const options = { env: { ...process.env, LC_ALL: 'C' } }
    execFile('sh', ['-c', INSIDE, directory, program, ...args], options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : (error.code ?? null), out: `${stdout}${stderr}` })
    })
  })
}

/** Not the working directory of a new process: Node waits until it has gone there, and could not answer for it. */
const INSIDE = 'cd "$0" && exec "$@"'
