import type { CommandCall } from '../tools/index.ts'
import type { OverwrittenChanges } from '../workspace/index.ts'
import type { OpenedFork } from './open-fork.ts'
import { type ShortChanges, shortenChanges } from './short-changes.ts'
import type { CommandRun, CommandTarget } from './workspace-commands.ts'

/**
 * A fork of a directory in which commands run. Each sees the directory with the fork's changes, at the directory's own
 * path, and leaves its changes in the fork.
 */
export class LinkedCommands implements CommandTarget {
  readonly #opened: OpenedFork

  constructor(opened: OpenedFork) {
    this.#opened = opened
  }

  get vault(): string {
    return this.#opened.link.path
  }

  async begin({ ctx: { signal } }: CommandCall): Promise<CommandRun> {
    const { link, fork, mutex } = this.#opened
    let changes: ShortChanges = { changes: [] }
    let isChanged = false
    let overwritten: OverwrittenChanges | undefined
    return {
      options: {
        fork: fork.name,
        linked: { link, fork, mutex, signal },
        onChanges: async (own) => {
          isChanged = own.changes.length > 0
          overwritten = own.overwritten
          changes = await shortenChanges(own.changes, own.trees)
        },
      },
      keep: async ({ result: { checkpoint } }) => ({
        ...changes,
        checkpoint: isChanged ? checkpoint : null,
        unmerged: null,
        overwritten,
      }),
      // A cancelled command keeps nothing in the first place.
      discard: async () => {},
    }
  }
}
