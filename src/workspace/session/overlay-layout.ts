import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { createOverlayLine } from '../isolation/index.ts'
import type { MountsBelow } from './mounts-below.ts'
import { copyAttributes } from './staging.ts'

/** Where an overlay has its trees, and how it is mounted at the path of the directory it covers. */
export class OverlayLayout {
  /** Of the session. */
  readonly directory: string
  /** What is covered, and where it is covered. */
  readonly lower: string
  /** What changed. */
  readonly upper: string
  readonly privilege: 'root' | 'user'
  /** What is mounted below what is covered. */
  readonly below: MountsBelow

  constructor(directory: string, lower: string, privilege: 'root' | 'user', below: MountsBelow) {
    this.directory = directory
    this.lower = lower
    this.upper = join(directory, 'upper')
    this.privilege = privilege
    this.below = below
  }

  /** Makes what it is mounted from. The root of the upper tree is what commands see as the root of the workspace. */
  async prepare(): Promise<void> {
    await symlink(this.lower, join(this.directory, 'lower'))
    await mkdir(this.upper)
    copyAttributes(this.lower, this.upper)
  }

  /** Lines of a shell that mount it, in the directory of the session; good for one time. */
  createMountLines(): string[] {
    const { directory: session, privilege } = this
    return [...this.below.takingLines(), createOverlayLine({ session, place: '.', privilege }, this.lower)]
  }
}
