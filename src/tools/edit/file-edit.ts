import { hash as digest } from 'node:crypto'
import { getCallerContext } from '../../access/index.ts'
import { type CallContext, type ErrorCode, isVfsError, readFile, VfsError } from '../../vfs/index.ts'
import { defineFileTool, type TargetContext } from '../define-tool.ts'
import type { ReadTracker, SeenVersion } from '../read-tracker.ts'
import { assertStorable, decodeExactly, encode } from '../text/encoding.ts'
import type { Tool } from '../tool.ts'
import { MAX_EDITABLE_BYTES, statOpenableFile, type ToolTarget } from '../tool-target.ts'
import { type EditArguments, editArguments } from './edit-arguments.ts'
import { formatExcerpt } from './excerpt.ts'
import { type EditedText, editLines } from './line-edit.ts'
import { editString } from './string-edit.ts'

const VERSION_DIGITS = 12

export const fileEdit: Tool = defineFileTool({
  name: 'file_edit',
  title: 'Edit a file',
  description:
    'Change a part of a text file: replace, insert or delete lines by number, or replace a text that occurs exactly once; refused if the file changed since you read it.',
  hints: { readOnly: false, destructive: true, idempotent: false },
  schema: editArguments,
  run(edit, targetContext) {
    const { reads } = targetContext.environment
    const seen = reads.lastSeen(targetContext.target.displayPath)
    return reads.editInOrder(targetContext.target.displayPath, () => {
      if (edit.operation !== 'replace_string') assertLinesInPlace(targetContext, seen)
      return performEdit(edit, targetContext)
    })
  },
})

async function performEdit(
  edit: EditArguments,
  { target, environment: { reads }, call: { ctx } }: TargetContext,
): Promise<string> {
  const { bytes, mtime } = await readEditable(target, ctx)
  const version = digest('sha256', bytes)
  assertVersionRead(target, { version, time: mtime }, reads, ctx)
  const { text, encoding } = decodeExactly(bytes, target.path)
  const edited = await applyEdit(edit, text, target, ctx)
  const excerpt = formatExcerpt(edited)
  if (edited.text === text)
    return `nothing to change: ${target.displayPath} already has this text\n${excerpt}`
  const stored = encode({ text: edited.text, encoding })
  assertEditable(stored.length, target, 'it would have')
  await replaceVersion(target, stored, version, ctx)
  const context = getCallerContext(ctx.caller)
  if (context !== undefined) reads.recordWrite(context, target.displayPath, digest('sha256', stored))
  return `edited ${target.displayPath}\n${excerpt}`
}

/** Throws ECONFLICT if an earlier call changed the file while this one waited: its line numbers may be wrong now. */
function assertLinesInPlace(
  { target, environment: { reads } }: TargetContext,
  seen: SeenVersion | undefined,
): void {
  if (reads.lastSeen(target.displayPath)?.version === seen?.version) return
  const detail =
    'another call of yours changed the file first, so line numbers may differ; read it again, then edit'
  throw createEditError('ECONFLICT', target, detail)
}

async function readEditable(
  target: ToolTarget,
  ctx: CallContext,
): Promise<{ bytes: Uint8Array; mtime: Date }> {
  const { size, mtime } = await statOpenableFile(target, ctx)
  assertEditable(size, target, 'it has')
  return { bytes: await readFile(target.fs, target.path, undefined, ctx), mtime }
}

function assertEditable(size: number, target: ToolTarget, verb: string): void {
  if (size <= MAX_EDITABLE_BYTES) return
  throw createEditError(
    'EFBIG',
    target,
    `${verb} ${size} bytes; the limit for edits is ${MAX_EDITABLE_BYTES}`,
  )
}

/** Throws ECONFLICT if the caller has read another version. A caller that has read none may edit. */
function assertVersionRead(
  target: ToolTarget,
  current: { readonly version: string; readonly time: Date },
  reads: ReadTracker,
  ctx: CallContext,
): void {
  const seen = reads.lastSeen(target.displayPath)
  if (seen === undefined || seen.version === current.version) return
  const author = reads.findAuthor(target.displayPath, current.version)?.context
  const isOwn = author === getCallerContext(ctx.caller)
  const authorNote = author === undefined ? '' : isOwn ? ` by another session of ${author}` : ` by ${author}`
  throw createEditError(
    'ECONFLICT',
    target,
    `it changed since you read it: you read version ${shortenVersion(seen.version)} at ${seen.time.toISOString()}, ` +
      `it is now at ${shortenVersion(current.version)}, changed${authorNote} at ${current.time.toISOString()}; read it again, then edit`,
  )
}

async function applyEdit(
  edit: EditArguments,
  text: string,
  target: ToolTarget,
  { signal }: CallContext,
): Promise<EditedText> {
  for (const [argument, value] of Object.entries(listTexts(edit)))
    assertStorable(value, argument, target.displayPath)
  const edited =
    edit.operation === 'replace_string' ? await editString(text, edit, signal) : editLines(text, edit)
  if ('refusal' in edited) throw createEditError(edited.code ?? 'EINVAL', target, edited.refusal)
  return edited
}

function listTexts(edit: EditArguments): Readonly<Record<string, string>> {
  if (edit.operation === 'replace_string') return { find: edit.find, replace: edit.replace }
  return 'content' in edit ? { content: edit.content } : {}
}

/** Writes if the file is still the edited version. ECONFLICT after a concurrent write, which is not lost. */
async function replaceVersion(
  target: ToolTarget,
  bytes: Uint8Array,
  version: string,
  ctx: CallContext,
): Promise<void> {
  try {
    await target.fs.write(target.path, bytes, { ifMatch: version }, ctx)
  } catch (error) {
    if (!isVfsError(error, 'ECONFLICT')) throw error
    const detail = `the file changed while you edited version ${shortenVersion(version)}; read it again, then edit`
    throw createEditError('ECONFLICT', target, detail)
  }
}

function shortenVersion(version: string): string {
  return version.slice(0, VERSION_DIGITS)
}

function createEditError(code: ErrorCode, { path }: ToolTarget, detail: string): VfsError {
  return new VfsError(code, path, { op: 'edit', detail })
}
