import { mkdir, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type ApartMount, type HomePlace, mountApart } from '../../fuse/index.ts'
import { apart, entering, type Launch, toolEnvironment } from '../isolation/index.ts'

export interface LiveMountOptions {
  /** Of the session. */
  readonly directory: string
  readonly privilege: 'root' | 'user'
  readonly home: HomePlace
  readonly vault: string
}

/**
 * A vault mounted for the commands of one session: in a mount namespace of the process that serves it, which dies with
 * this one. Nothing is mounted on the machine, so nothing can be left mounted.
 */
export class LiveMount implements AsyncDisposable {
  /** Where the commands see it. */
  readonly path: string
  /** Where this process reaches it. */
  readonly reach: string
  readonly #mount: ApartMount
  readonly #privilege: 'root' | 'user'

  private constructor(path: string, mount: ApartMount, privilege: 'root' | 'user') {
    this.path = path
    this.#mount = mount
    this.reach = `/proc/${mount.pid}/root${path}`
    this.#privilege = privilege
  }

  static async open({ directory, privilege, home, vault }: LiveMountOptions): Promise<LiveMount> {
    const path = join(directory, 'mount')
    await mkdir(path)
    const mount = await mountApart({
      home,
      vault,
      directory: path,
      // Only in the machine's own namespace is there anybody else; elsewhere it would lock this process out.
      allowsOthers: privilege === 'root',
      enclose: (argv) => apart(privilege, argv),
      env: toolEnvironment,
    })
    return new LiveMount(path, mount, privilege)
  }

  /** A launch that is started where the mount is. */
  entered(launch: Launch): Launch {
    const words = entering(this.#privilege, this.#mount.pid, dirname(this.path))
    return { ...launch, argv: [...words, ...launch.argv] }
  }

  /** Resolves when everything that was done in it is in the vault. */
  async settle(): Promise<void> {
    await statfs(this.reach)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#mount[Symbol.asyncDispose]()
  }
}
