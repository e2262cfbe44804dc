import { createReadOnlyLine, type HostMountPoint, listHostMounts, quoteWord } from '../../isolation/index.ts'

/** Name of the directory in a session that holds their binds. */
const BIND_DIRECTORY = 'below'

/** Mount at one path below a workspace, with the mounts below it. */
interface MountBelow {
  readonly path: string
  readonly mounts: readonly HostMountPoint[]
}

/**
 * Mounts below a directory: volumes of a container, other disks. An overlay shows the directories under them instead, so
 * they are mounted again on top of it. Read-only, since the upper tree would not have their changes.
 */
export class MountsBelow {
  static readonly none: MountsBelow = new MountsBelow([])
  readonly #found: readonly MountBelow[]

  private constructor(found: readonly MountBelow[]) {
    this.#found = found
  }

  /** Finds the mounts below a directory that this process sees. */
  static find(directory: string): MountsBelow {
    // The last mount at a path is the visible one.
    const mounts = new Map(listHostMounts().map((mount) => [mount.path, mount]))
    const nestedMounts = [...mounts.values()].filter(({ path }) => path.startsWith(`${directory}/`))
    const tops = nestedMounts.filter(
      ({ path }) => !nestedMounts.some((other) => path.startsWith(`${other.path}/`)),
    )
    return new MountsBelow(
      tops.map(({ path }) => ({
        path,
        mounts: nestedMounts.filter((mount) => `${mount.path}/`.startsWith(`${path}/`)),
      })),
    )
  }

  /** Returns shell lines that bind them elsewhere, before the overlay covers the directory. Skips unreachable ones. */
  createBindLines(): string[] {
    return this.#found.flatMap(({ path, mounts }, index) => [
      `mkdir -p ${BIND_DIRECTORY}; if [ -d ${quoteWord(path)} ]; then mkdir -p ${BIND_DIRECTORY}/${index}; elif [ -e ${quoteWord(path)} ]; then : > ${BIND_DIRECTORY}/${index}; fi`,
      `[ ! -e ${BIND_DIRECTORY}/${index} ] || mount -n --rbind ${quoteWord(path)} ${BIND_DIRECTORY}/${index}`,
      ...mounts.map((mount) =>
        createReadOnlyLine({ ...mount, path: `${BIND_DIRECTORY}/${index}${mount.path.slice(path.length)}` }),
      ),
    ])
  }

  /** Returns shell lines that mount them at their paths, once the overlay is mounted. */
  createRemountLines(): string[] {
    return this.#found.map(({ path }, index) => {
      const held = `${BIND_DIRECTORY}/${index}`
      return `[ ! -e ${held} ] || [ ! -e ${quoteWord(path)} ] || mount -n --no-canonicalize --rbind ${held} ${quoteWord(path)}`
    })
  }
}
