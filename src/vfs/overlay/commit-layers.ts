import { VfsError } from '../error.ts'
import { withoutSignal } from '../events.ts'
import type { CallContext, FileSystem, Stat } from '../file-system.ts'
import { copy } from '../helpers/copy-move.ts'
import { diff, isSameEntry } from '../helpers/diff.ts'
import { statIfPresent } from '../helpers/stat-if-present.ts'
import { MemoryFs } from '../memory/memory-fs.ts'
import { child } from '../path.ts'
import { isAttributed, isForkable } from '../protocols.ts'
import { applyAttributes, applyTreeAttributes, type TargetAttributes } from './apply-attributes.ts'
import type { Layers } from './layers.ts'

/** One step of a commit: remove the subtree at a path from lower, copy it from upper, or both. */
interface CommitEdit {
  readonly path: string
  readonly removes: boolean
  readonly copies: boolean
}

/** A path that stays and gets the overlay's mode and time after its content is committed. */
interface AttributeEdit {
  readonly path: string
  readonly before: Stat
  readonly after: Stat
}

interface CommitPlan {
  /** In the order they must be applied. */
  readonly edits: CommitEdit[]
  /** Directories before their entries. */
  readonly touched: AttributeEdit[]
}

/** Applies an overlay's changes to its lower layer. If a step fails, rolls all of them back. EIO if that fails, too. */
export async function commitLayers(layers: Layers, merged: FileSystem, ctx?: CallContext): Promise<void> {
  const { lower, upper } = layers
  const { edits, touched } = await createPlan(layers, merged, ctx)
  const backup = await createBackup(lower, edits, ctx)
  const started: CommitEdit[] = []
  try {
    for (const edit of edits) {
      started.push(edit)
      if (edit.removes) await lower.remove(edit.path, { recursive: true }, ctx)
      if (edit.copies) await copyPath(upper, lower, edit.path, ctx)
    }
    for (const { path, after } of touched.toReversed())
      await applyAttributes(lower, { path, stat: after }, ctx)
  } catch (error) {
    const restored = touched.map(({ path, before }) => ({ path, stat: before })).reverse()
    await rollBack(lower, backup, { started, restored }, error, withoutSignal(ctx))
    throw error
  }
}

/** Plans the changes that make lower equal to the merged tree. */
async function createPlan(layers: Layers, merged: FileSystem, ctx?: CallContext): Promise<CommitPlan> {
  const plan: CommitPlan = { edits: [], touched: [] }
  const pending = ['/']
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    const names = await layers.listTouchedNames(directory, ctx)
    if (names === null) {
      // Masked and created anew: nothing of lower's directory stays.
      plan.edits.push({ path: directory, removes: true, copies: true })
      continue
    }
    if (directory === '/' || layers.directories.keepsAttributes) {
      const [before, after] = [await layers.lower.stat(directory, ctx), await merged.stat(directory, ctx)]
      plan.touched.push({ path: directory, before, after })
    }
    for (const name of names) {
      const path = child(directory, name)
      if (await planEntry(plan, path, layers.lower, merged, ctx)) pending.push(path)
    }
  }
  return plan
}

/** Plans one name. Returns true for a directory in both trees, whose names are still to be planned. */
async function planEntry(
  { edits, touched }: CommitPlan,
  path: string,
  lower: FileSystem,
  merged: FileSystem,
  ctx?: CallContext,
): Promise<boolean> {
  const [old, current] = [await statIfPresent(lower, path, ctx), await statIfPresent(merged, path, ctx)]
  if (old?.type === 'directory' && current?.type === 'directory') return true
  if (old === null && current === null) return false
  if (old?.type !== current?.type || old === null || current === null) {
    edits.push({ path, removes: old !== null, copies: current !== null })
  } else {
    // If a mode can be set alone, a changed mode is no reason to rewrite the content.
    const compared = isAttributed(lower) ? { ...current, mode: null } : current
    const isKept = await isSameEntry(lower, merged, path, old, compared, ctx)
    if (isKept) touched.push({ path, before: old, after: current })
    else edits.push({ path, removes: false, copies: true })
  }
  return false
}

async function copyPath(from: FileSystem, into: FileSystem, path: string, ctx?: CallContext): Promise<void> {
  await copy(from, path, path, { into, overwrite: true }, ctx)
  await applyTreeAttributes(from, into, path, ctx)
}

/** Saves lower at every path that an edit touches: as a fork if possible, else as copies. */
async function createBackup(
  lower: FileSystem,
  edits: readonly CommitEdit[],
  ctx?: CallContext,
): Promise<FileSystem> {
  if (isForkable(lower)) return lower.fork()
  const backup = new MemoryFs()
  for (const { path } of edits) {
    if (await lower.exists(path, ctx)) await copyPath(lower, backup, path, ctx)
  }
  return backup
}

async function rollBack(
  lower: FileSystem,
  backup: FileSystem,
  {
    started,
    restored,
  }: { readonly started: readonly CommitEdit[]; readonly restored: readonly TargetAttributes[] },
  cause: unknown,
  ctx?: CallContext,
): Promise<void> {
  for (const { path } of started.toReversed()) {
    await runRestoreStep(path, cause, () => restorePath(backup, lower, path, ctx))
  }
  for (const target of restored)
    await runRestoreStep(target.path, cause, () => applyAttributes(lower, target, ctx))
}

async function runRestoreStep(path: string, cause: unknown, step: () => Promise<void>): Promise<void> {
  try {
    await step()
  } catch (error) {
    const detail =
      'the commit failed and this path could not be restored; the overlay still holds every change, so commit again'
    throw new VfsError('EIO', path, { op: 'commit', detail, cause: new AggregateError([cause, error]) })
  }
}

async function restorePath(
  backup: FileSystem,
  lower: FileSystem,
  path: string,
  ctx?: CallContext,
): Promise<void> {
  // If the edit failed before it changed anything, rolling back must not depend on a working lower layer.
  if (!(await isAsBefore(backup, lower, path, ctx))) {
    if (await lower.exists(path, ctx)) await lower.remove(path, { recursive: true }, ctx)
    if (await backup.exists(path, ctx)) await copy(backup, path, path, { into: lower }, ctx)
  }
  if (await backup.exists(path, ctx)) await applyTreeAttributes(backup, lower, path, ctx)
}

async function isAsBefore(
  backup: FileSystem,
  lower: FileSystem,
  path: string,
  ctx?: CallContext,
): Promise<boolean> {
  const [old, current] = [await statIfPresent(backup, path, ctx), await statIfPresent(lower, path, ctx)]
  if (old === null || current === null) return old === current
  if (old.type !== current.type) return false
  if (old.type !== 'directory') return isSameEntry(backup, lower, path, old, current, ctx)
  for await (const _ of diff(backup, lower, path, ctx)) return false
  return true
}
