import { mkdir, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type HomeLocation, mountInProcess, type ProcessMount } from '../../../fuse/index.ts'
import {
  createEnterArgs,
  createMountNamespaceArgs,
  isolationEnvironment,
  type Launch,
} from '../../isolation/index.ts'

export interface LiveMountOptions {
  /** Directory of the session. */
  readonly directory: string
  readonly privilege: 'root' | 'user'
  readonly home: HomeLocation
  readonly vault: string
}

/**
 * A vault that is mounted for the commands of one session, in the mount namespace of the process that serves it. That
 * process exits with this one. Nothing is mounted on the machine itself, so nothing can stay mounted.
 */
export class LiveMount implements AsyncDisposable {
  /** Path for the commands. */
  readonly path: string
  /** Path for this process. */
  readonly hostPath: string
  readonly #mount: ProcessMount
  readonly #privilege: 'root' | 'user'

  private constructor(path: string, mount: ProcessMount, privilege: 'root' | 'user') {
    this.path = path
    this.#mount = mount
    this.hostPath = `/proc/${mount.pid}/root${path}`
    this.#privilege = privilege
  }

  static async open({ directory, privilege, home, vault }: LiveMountOptions): Promise<LiveMount> {
    const path = join(directory, 'mount')
    await mkdir(path)
    const mount = await mountInProcess({
      home,
      vault,
      directory: path,
      // Only in the machine's own namespace is there anybody else; elsewhere it would lock this process out.
      allowsOthers: privilege === 'root',
      wrapCommand: (argv) => createMountNamespaceArgs(privilege, argv),
      env: isolationEnvironment,
    })
    return new LiveMount(path, mount, privilege)
  }

  /** Wraps a launch, so that it runs in the mount namespace. */
  wrapLaunch(launch: Launch): Launch {
    const words = createEnterArgs(this.#privilege, this.#mount.pid, dirname(this.path))
    return { ...launch, argv: [...words, ...launch.argv] }
  }

  /** Resolves when the vault has all changes of the mount. */
  async flush(): Promise<void> {
    await statfs(this.hostPath)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#mount[Symbol.asyncDispose]()
  }
}
