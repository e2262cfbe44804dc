import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { createOverlayLine } from '../../isolation/index.ts'
import { copyAttributes } from '../entries/staging.ts'
import type { MountsBelow } from './mounts-below.ts'

/** Trees of an overlay, and its mount at the path of the directory it covers. */
export class OverlayLayout {
  /** Directory of the session. */
  readonly directory: string
  /** Directory that is covered, and mount point. */
  readonly lower: string
  /** Upper tree, with the changes. */
  readonly upper: string
  readonly privilege: 'root' | 'user'
  /** Mounts below the covered directory. */
  readonly nestedMounts: MountsBelow

  constructor(directory: string, lower: string, privilege: 'root' | 'user', nestedMounts: MountsBelow) {
    this.directory = directory
    this.lower = lower
    this.upper = join(directory, 'upper')
    this.privilege = privilege
    this.nestedMounts = nestedMounts
  }

  /** Creates the trees. The upper root gets the attributes of the lower one: commands see it as the workspace. */
  async prepare(): Promise<void> {
    await symlink(this.lower, join(this.directory, 'lower'))
    await mkdir(this.upper)
    copyAttributes(this.lower, this.upper)
  }

  /** Returns shell lines that mount it once, to be run in the directory of the session. */
  createMountLines(): string[] {
    const { directory: session, privilege } = this
    return [
      ...this.nestedMounts.createBindLines(),
      createOverlayLine({ session, directory: '.', privilege }, this.lower),
    ]
  }
}
