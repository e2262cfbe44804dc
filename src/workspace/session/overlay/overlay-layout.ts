import { mkdirSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createOverlayLine, createReadOnlyOverlayLine } from '../../isolation/index.ts'
import type { UnlockedTree } from '../entries/locked-entries.ts'
import { copyAttributesSync } from '../entries/staging.ts'
import type { MountsBelow } from './mounts-below.ts'

/**
 * Names the directories of an overlay session and creates them. The overlay is mounted over the lower directory, at the
 * same path, so that commands see their usual paths.
 */
export class OverlayLayout {
  /** Holds everything of the session: the link `lower`, the upper tree and work directories. */
  readonly directory: string
  /** The workspace on this machine. The overlay reads it, never writes to it, and is mounted over it. */
  readonly lower: string
  /** The upper tree, which receives the changes of commands. */
  readonly upper: string
  /** `root`: this process may mount. `user`: it mounts in a user namespace of its own, without rights on the host. */
  readonly privilege: 'root' | 'user'
  /** Mounts below the lower directory, which the overlay would hide. */
  readonly nestedMounts: MountsBelow

  constructor(directory: string, lower: string, privilege: 'root' | 'user', nestedMounts: MountsBelow) {
    this.directory = directory
    this.lower = lower
    this.upper = join(directory, 'upper')
    this.privilege = privilege
    this.nestedMounts = nestedMounts
  }

  /** The upper tree, for reading entries that their owner may not read. */
  get unlockedTree(): UnlockedTree {
    return { root: this.upper, journal: join(this.directory, 'unlocked.jsonl') }
  }

  /** Source that `mount` and `df` show. The end of the directory's name makes it unique. */
  get source(): string {
    return `overlay-${basename(this.directory).split('-').at(-1)}`
  }

  /** Creates the link `lower` and the upper tree. Commands see the upper root as the workspace, so it has its attributes. */
  async prepare(): Promise<void> {
    // The options of a mount cannot contain a comma or colon, which the path of a workspace may; the link's name has none.
    symlinkSync(this.lower, join(this.directory, 'lower'))
    mkdirSync(this.upper)
    copyAttributesSync(this.lower, this.upper)
  }

  /** Returns shell lines that mount the overlay once. They must run in the session's directory. */
  createMountLines(): string[] {
    const { directory: session, privilege, source } = this
    return [
      ...this.nestedMounts.createBindLines(),
      createOverlayLine({ session, directory: '.', privilege, source }, this.lower),
    ]
  }

  /** Returns shell lines that mount the overlay for programs that only read, any number of times. */
  createViewLines(): string[] {
    const { privilege } = this
    return [
      ...this.nestedMounts.createBindLines(),
      createReadOnlyOverlayLine({ directory: '.', privilege }, this.lower),
    ]
  }
}
