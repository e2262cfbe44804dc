import { type HostMount, hostMounts, quote, readOnlyLine } from '../isolation/index.ts'

/** Where they are kept at hand, in the directory of a session. */
const PLACE = 'below'

/** What is mounted at one path below a workspace, with what is mounted below that. */
interface MountBelow {
  readonly path: string
  readonly mounts: readonly HostMount[]
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
    const mounts = new Map(hostMounts().map((mount) => [mount.path, mount]))
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
      `mkdir -p ${PLACE}; if [ -d ${quote(path)} ]; then mkdir -p ${PLACE}/${index}; elif [ -e ${quote(path)} ]; then : > ${PLACE}/${index}; fi`,
      `[ ! -e ${PLACE}/${index} ] || mount -n --rbind ${quote(path)} ${PLACE}/${index}`,
      ...mounts.map((mount) =>
        readOnlyLine({ ...mount, path: `${PLACE}/${index}${mount.path.slice(path.length)}` }),
      ),
    ])
  }

  /** Lines that put them in their places, once the workspace is in its own. */
  placingLines(): string[] {
    return this.#found.map(({ path }, index) => {
      const held = `${PLACE}/${index}`
      return `[ ! -e ${held} ] || [ ! -e ${quote(path)} ] || mount -n --no-canonicalize --rbind ${held} ${quote(path)}`
    })
  }
}
