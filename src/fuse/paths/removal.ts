import { type CallContext, type FileSystem, move, VfsError } from '../../vfs/index.ts'
import type { Request } from '../protocol/index.ts'
import { done, type PathConnection, type PathOperation, type Put } from './path-operation.ts'
import { type Place, placeIn, statIfPresent } from './place.ts'

const NO_REPLACE = 1

export const unlink: PathOperation = async (request, { files }, ctx) => {
  const place = placeIn(files.table, request.node, request.text(0))
  await files.withoutName(place, ctx, () => files.fs.remove(place.path, {}, ctx))
  files.table.remove(place.parent, place.name)
  return done
}

export const rmdir: PathOperation = async (request, { files }, ctx) => {
  const { parent, name, path } = placeIn(files.table, request.node, request.text(0))
  await assertEmpty(files.fs, path, 'rmdir', ctx)
  await files.fs.remove(path, { recursive: true }, ctx)
  files.table.remove(parent, name)
  return done
}

export const rename: PathOperation = (request, connection, ctx) => {
  const [from, to] = placesOf(request, connection, 8)
  return renamed(connection, from, to, { replaces: true }, ctx)
}

export const rename2: PathOperation = (request, connection, ctx) => {
  const [from, to] = placesOf(request, connection, 16)
  const flags = request.u32(8)
  // Two names cannot change places, and there are no whiteouts.
  if ((flags & ~NO_REPLACE) !== 0) throw new VfsError('EINVAL', from.path, { op: 'rename' })
  return renamed(connection, from, to, { replaces: flags === 0 }, ctx)
}

async function renamed(
  { files }: PathConnection,
  from: Place,
  to: Place,
  { replaces }: { readonly replaces: boolean },
  ctx: CallContext,
): Promise<Put> {
  const target = await statIfPresent(files.fs, to.path, ctx)
  if (target?.type === 'directory') await assertEmpty(files.fs, to.path, 'rename', ctx)
  // What is not stored yet would be stored under the name it had.
  await files.flushBelow(from.path, ctx)
  await files.withoutName(to, ctx, () => move(files.fs, from.path, to.path, { overwrite: replaces }, ctx))
  files.table.move(from.parent, from.name, to.parent, to.name)
  return done
}

function placesOf(
  request: Request,
  { files: { table } }: PathConnection,
  at: number,
): readonly [Place, Place] {
  return [
    placeIn(table, request.node, request.text(at)),
    placeIn(table, request.u64(0), request.text(request.behindText(at))),
  ]
}

async function assertEmpty(fs: FileSystem, path: string, op: string, ctx: CallContext): Promise<void> {
  for await (const _ of fs.readdir(path, ctx)) throw new VfsError('ENOTEMPTY', path, { op })
}
