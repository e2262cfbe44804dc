import { VfsError } from '../error.ts'
import { withoutSignal } from '../events.ts'
import type { CallContext, FileSystem } from '../file-system.ts'
import { diff, isSame } from '../helpers/diff.ts'
import { statIfPresent } from '../helpers/presence.ts'
import { copy } from '../helpers/transfer.ts'
import { MemoryFs } from '../memory/memory-fs.ts'
import { child } from '../path.ts'
import { isForkable } from '../protocols.ts'
import type { Layers } from './layers.ts'

/** One step of a commit: the subtree at a path goes, comes from upper, or both. */
interface Edit {
  readonly path: string
  readonly removes: boolean
  readonly copies: boolean
}

/** Applies an overlay's changes to its lower layer: all of them, or, when a step fails, none. */
export async function commitLayers(layers: Layers, merged: FileSystem, ctx?: CallContext): Promise<void> {
  const { lower, upper } = layers
  const edits = await plan(layers, merged, ctx)
  const backup = await backupOf(lower, edits, ctx)
  const begun: Edit[] = []
  try {
    for (const edit of edits) {
      begun.push(edit)
      if (edit.removes) await lower.remove(edit.path, { recursive: true }, ctx)
      if (edit.copies) await copy(upper, edit.path, edit.path, { into: lower, overwrite: true }, ctx)
    }
  } catch (error) {
    await rollBack(lower, backup, begun, error, withoutSignal(ctx))
    throw error
  }
}

/** The edits that make lower equal to the merged tree, in the order they must be made. */
async function plan(layers: Layers, merged: FileSystem, ctx?: CallContext): Promise<Edit[]> {
  const { lower } = layers
  const edits: Edit[] = []
  const pending = ['/']
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    const names = await layers.touchedNames(directory, ctx)
    if (names === null) {
      // Masked and made anew: nothing of lower's directory stays.
      edits.push({ path: directory, removes: true, copies: true })
      continue
    }
    for (const name of names) {
      const path = child(directory, name)
      const [old, now] = [await statIfPresent(lower, path, ctx), await statIfPresent(merged, path, ctx)]
      if (old?.type === 'directory' && now?.type === 'directory') pending.push(path)
      else if (now === null) {
        if (old !== null) edits.push({ path, removes: true, copies: false })
      } else if (old?.type !== now.type) edits.push({ path, removes: old !== null, copies: true })
      else if (!(await isSame(lower, merged, path, old, now, ctx)))
        edits.push({ path, removes: false, copies: true })
    }
  }
  return edits
}

/** Lower as it was, at every path an edit touches: a fork where lower can, else copies. */
async function backupOf(lower: FileSystem, edits: readonly Edit[], ctx?: CallContext): Promise<FileSystem> {
  if (isForkable(lower)) return lower.fork()
  const backup = new MemoryFs()
  for (const { path } of edits) {
    if (await lower.exists(path, ctx)) await copy(lower, path, path, { into: backup }, ctx)
  }
  return backup
}

async function rollBack(
  lower: FileSystem,
  backup: FileSystem,
  begun: Edit[],
  cause: unknown,
  ctx?: CallContext,
): Promise<void> {
  for (const { path } of begun.reverse()) {
    try {
      // An edit that failed before it changed anything must not need a lower layer that works.
      if (await isAsBefore(backup, lower, path, ctx)) continue
      if (await lower.exists(path, ctx)) await lower.remove(path, { recursive: true }, ctx)
      if (await backup.exists(path, ctx)) await copy(backup, path, path, { into: lower }, ctx)
    } catch (error) {
      const detail =
        'the commit failed, and so did putting this path back; the overlay still holds every change'
      throw new VfsError('EIO', path, { op: 'commit', detail, cause: new AggregateError([cause, error]) })
    }
  }
}

async function isAsBefore(
  backup: FileSystem,
  lower: FileSystem,
  path: string,
  ctx?: CallContext,
): Promise<boolean> {
  const [old, now] = [await statIfPresent(backup, path, ctx), await statIfPresent(lower, path, ctx)]
  if (old === null || now === null) return old === now
  if (old.type !== now.type) return false
  if (old.type !== 'directory') return isSame(backup, lower, path, old, now, ctx)
  for await (const _ of diff(backup, lower, path, ctx)) return false
  return true
}
