import { createReadOnlyLine, type HostMountPoint, listHostMounts, quoteWord } from '../../isolation/index.ts'

/** Name of the directory in a session that holds their binds. */
const BIND_DIRECTORY = 'below'

/** Mount at one path below a workspace, with the mounts below it. */
interface MountBelow {
  readonly path: string
  readonly mounts: readonly HostMountPoint[]
}

/**
 * What is mounted below a directory: volumes of a container, other disks. An overlay has what lies under them instead,
 * so they are put on top of it; to be read only, since what changed in them could be found nowhere.
 */
export class MountsBelow {
  static readonly none: MountsBelow = new MountsBelow([])
  readonly #found: readonly MountBelow[]

  private constructor(found: readonly MountBelow[]) {
    this.#found = found
  }

  static find(directory: string): MountsBelow {
    // What was mounted last at a path is what is seen there.
    const mounts = new Map(listHostMounts().map((mount) => [mount.path, mount]))
    const below = [...mounts.values()].filter(({ path }) => path.startsWith(`${directory}/`))
    const tops = below.filter(({ path }) => !below.some((other) => path.startsWith(`${other.path}/`)))
    return new MountsBelow(
      tops.map(({ path }) => ({
        path,
        mounts: below.filter((mount) => `${mount.path}/`.startsWith(`${path}/`)),
      })),
    )
  }

  /** Lines of a shell that take hold of them, before the directory is covered. What cannot be reached is left out. */
  takingLines(): string[] {
    return this.#found.flatMap(({ path, mounts }, index) => [
      `mkdir -p ${BIND_DIRECTORY}; if [ -d ${quoteWord(path)} ]; then mkdir -p ${BIND_DIRECTORY}/${index}; elif [ -e ${quoteWord(path)} ]; then : > ${BIND_DIRECTORY}/${index}; fi`,
      `[ ! -e ${BIND_DIRECTORY}/${index} ] || mount -n --rbind ${quoteWord(path)} ${BIND_DIRECTORY}/${index}`,
      ...mounts.map((mount) =>
        createReadOnlyLine({ ...mount, path: `${BIND_DIRECTORY}/${index}${mount.path.slice(path.length)}` }),
      ),
    ])
  }

  /** Lines that put them in their places, once the workspace is in its own. */
  placingLines(): string[] {
    return this.#found.map(({ path }, index) => {
      const held = `${BIND_DIRECTORY}/${index}`
      return `[ ! -e ${held} ] || [ ! -e ${quoteWord(path)} ] || mount -n --no-canonicalize --rbind ${held} ${quoteWord(path)}`
    })
  }
}
