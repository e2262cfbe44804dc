import { createQuestion, type PickedQuestion, type PickedSelection, toSelection } from '../../diff/index.ts'
import { VfsError } from '../../vfs/index.ts'
import type { FileSelection } from '../../web-api/index.ts'
import type { TreeChange } from '../../workspace/index.ts'
import { digestTexts } from '../file-diff.ts'
import { createMergeError } from './merge-request.ts'

type Answers = Parameters<typeof toSelection>[1]

/**
 * Converts selected files and hunks to what an apply takes. ENOENT for a path without a change, ECONFLICT if a file is
 * not the one that was shown.
 */
export function selectTreeChanges(
  changes: readonly TreeChange[],
  selection: readonly FileSelection[],
): PickedSelection {
  const byPath = new Map(changes.map((change) => [change.path, change]))
  const answers = new Map<PickedQuestion, 'all' | PickedQuestion['hunks']>()
  for (const { path, hunks, digest } of selection) {
    const change = byPath.get(path)
    if (change === undefined)
      throw new VfsError('ENOENT', path, { op: 'merge', detail: `${path} has no change` })
    if (hunks === undefined) answers.set({ change, header: [], old: [], hunks: [] }, 'all')
    else answers.set(...pickHunks(change, hunks, digest))
  }
  return toSelection(changes, answers satisfies Answers)
}

function pickHunks(
  change: TreeChange,
  indexes: readonly number[],
  digest: string | undefined,
): [PickedQuestion, PickedQuestion['hunks']] {
  const question = createQuestion(change)
  if (digest !== digestTexts(readContent(change.before), readContent(change.after)))
    throw createOutdatedError(change.path)
  if (question.hunks.length === 0) throw createMergeError(`${change.path} has no hunks; take the whole file`)
  return [question, selectHunks(question.hunks, indexes, change.path)]
}

/** Returns the hunks with some indexes. EINVAL for one that does not exist. */
export function selectHunks<Hunk>(hunks: readonly Hunk[], indexes: readonly number[], path: string): Hunk[] {
  return [...new Set(indexes)]
    .sort((one, other) => one - other)
    .map((index) => {
      const hunk = hunks[index]
      if (hunk === undefined) throw createMergeError(`${path} has no hunk ${index}`)
      return hunk
    })
}

export function createOutdatedError(path: string): VfsError {
  const detail = `${path} changed since its hunks were shown; look at it again`
  return new VfsError('ECONFLICT', path, { op: 'merge', detail })
}

function readContent(entry: TreeChange['before']): Uint8Array {
  return entry === undefined || entry.type !== 'file'
    ? new Uint8Array(0)
    : Buffer.concat([...entry.content()])
}
