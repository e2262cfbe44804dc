import { hash as digest } from 'node:crypto'
import { contextOf } from '../../access/index.ts'
import { type CallContext, type ErrorCode, isVfsError, readFile, VfsError } from '../../vfs/index.ts'
import { type AtPlace, fileTool } from '../define-tool.ts'
import { MAX_EDITABLE_BYTES, openableFile, type Place } from '../place.ts'
import type { ReadMemory, Sighting } from '../read-memory.ts'
import { assertStorable, decodeExactly, encode } from '../text/encoding.ts'
import type { Tool } from '../tool.ts'
import { type EditArguments, editArguments } from './edit-arguments.ts'
import { excerptOf } from './excerpt.ts'
import { type Edited, editLines } from './line-edit.ts'
import { editString } from './string-edit.ts'

const VERSION_DIGITS = 12

export const fileEdit: Tool = fileTool({
  name: 'file_edit',
  title: 'Edit a file',
  description:
    'Change a part of a text file: replace, insert or delete lines by number, or replace a text that occurs exactly once; refused if the file changed since you read it.',
  hints: { readOnly: false, destructive: true, idempotent: false },
  schema: editArguments,
  run(edit, at) {
    const { reads } = at.bench
    const seen = reads.lastSeen(at.place.shown)
    return reads.editInOrder(at.place.shown, () => {
      if (edit.operation !== 'replace_string') assertLinesInPlace(at, seen)
      return performEdit(edit, at)
    })
  },
})

async function performEdit(
  edit: EditArguments,
  { place, bench: { reads }, call: { ctx } }: AtPlace,
): Promise<string> {
  const { bytes, mtime } = await editable(place, ctx)
  const version = digest('sha256', bytes)
  assertAsRead(place, { version, time: mtime }, reads, ctx)
  const { text, encoding } = decodeExactly(bytes, place.path)
  const edited = await applied(edit, text, place, ctx)
  const excerpt = excerptOf(edited)
  if (edited.text === text) return `nothing to change: ${place.shown} reads like that already\n${excerpt}`
  const stored = encode({ text: edited.text, encoding })
  assertEditable(stored.length, place, 'it would have')
  await replaceVersion(place, stored, version, ctx)
  const context = contextOf(ctx.caller)
  if (context !== undefined) reads.wrote(context, place.shown, digest('sha256', stored))
  return `edited ${place.shown}\n${excerpt}`
}

/** ECONFLICT if an earlier call changed the file while this one waited: its line numbers may mean other lines now. */
function assertLinesInPlace({ place, bench: { reads } }: AtPlace, seen: Sighting | undefined): void {
  if (reads.lastSeen(place.shown)?.version === seen?.version) return
  const detail = 'another call of yours changed it first, and lines may have moved; read it again, then edit'
  throw refused('ECONFLICT', place, detail)
}

async function editable(place: Place, ctx: CallContext): Promise<{ bytes: Uint8Array; mtime: Date }> {
  const { size, mtime } = await openableFile(place, ctx)
  assertEditable(size, place, 'it has')
  return { bytes: await readFile(place.fs, place.path, undefined, ctx), mtime }
}

function assertEditable(size: number, place: Place, has: string): void {
  if (size <= MAX_EDITABLE_BYTES) return
  throw refused('EFBIG', place, `${has} ${size} bytes, and at most ${MAX_EDITABLE_BYTES} can be edited`)
}

/** ECONFLICT if the caller has read another version than this one. Who has read none may edit: it names the place. */
function assertAsRead(
  place: Place,
  now: { readonly version: string; readonly time: Date },
  reads: ReadMemory,
  ctx: CallContext,
): void {
  const seen = reads.lastSeen(place.shown)
  if (seen === undefined || seen.version === now.version) return
  const author = reads.authorOf(place.shown, now.version)?.context
  const isOwn = author === contextOf(ctx.caller)
  const by = author === undefined ? '' : isOwn ? ` by another session of ${author}` : ` by ${author}`
  throw refused(
    'ECONFLICT',
    place,
    `it changed since you read it: you read version ${short(seen.version)} at ${seen.time.toISOString()}, ` +
      `it is now at ${short(now.version)}, changed${by} at ${now.time.toISOString()}; read it again, then edit`,
  )
}

async function applied(
  edit: EditArguments,
  text: string,
  place: Place,
  { signal }: CallContext,
): Promise<Edited> {
  for (const [argument, value] of Object.entries(textsOf(edit))) assertStorable(value, argument, place.shown)
  const edited =
    edit.operation === 'replace_string' ? await editString(text, edit, signal) : editLines(text, edit)
  if ('refusal' in edited) throw refused(edited.code ?? 'EINVAL', place, edited.refusal)
  return edited
}

function textsOf(edit: EditArguments): Readonly<Record<string, string>> {
  if (edit.operation === 'replace_string') return { find: edit.find, replace: edit.replace }
  return 'content' in edit ? { content: edit.content } : {}
}

/** Writes if the file is still what was edited. ECONFLICT if somebody wrote in between: nothing of theirs is lost. */
async function replaceVersion(
  place: Place,
  bytes: Uint8Array,
  version: string,
  ctx: CallContext,
): Promise<void> {
  try {
    await place.fs.write(place.path, bytes, { ifMatch: version }, ctx)
  } catch (error) {
    if (!isVfsError(error, 'ECONFLICT')) throw error
    const detail = `somebody changed it while you edited version ${short(version)}; read it again, then edit`
    throw refused('ECONFLICT', place, detail)
  }
}

function short(version: string): string {
  return version.slice(0, VERSION_DIGITS)
}

function refused(code: ErrorCode, { path }: Place, detail: string): VfsError {
  return new VfsError(code, path, { op: 'edit', detail })
}
