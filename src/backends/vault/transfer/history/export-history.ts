import {
  type Checkpoint,
  type FileChange,
  listInheritedCheckpoints,
  type StoreHome,
  toInlineText,
} from '../../../../store/index.ts'
import { child, type FileType } from '../../../../vfs/index.ts'
import { type SourceEntry, VaultSource, VaultTreeWalk } from '../vault-source.ts'
import type { ExportedChange, ExportedStep } from './history-steps.ts'

/**
 * Yields every checkpoint of a vault, the oldest first, including those from before a fork. Nothing is collected
 * meanwhile. ENOENT.
 */
export async function* exportHistory(home: StoreHome, vault: string): AsyncGenerator<ExportedStep> {
  await using source = await VaultSource.open(home, vault, undefined)
  const checkpoints = await home.reader.run(() => [
    ...listInheritedCheckpoints(home.reader, source.log.head),
    ...home.getCheckpoints(source.log).list(),
  ])
  const byId = new Map(checkpoints.map((checkpoint) => [checkpoint.uid, checkpoint]))
  for (const checkpoint of checkpoints) yield toExportedStep(home, source, byId, checkpoint)
}

function toExportedStep(
  home: StoreHome,
  source: VaultSource,
  byId: ReadonlyMap<string, Checkpoint>,
  { uid, name, time, description, meta, root }: Checkpoint,
): ExportedStep {
  const files = source.withFiles(home.trees.getFilesAt(root))
  return {
    id: uid,
    name,
    time: new Date(time),
    ...(description !== undefined && { description }),
    ...(meta !== undefined && { meta }),
    async *changesSince(base) {
      const before = base === undefined ? undefined : byId.get(base)
      if (before === undefined) yield* listAll(files, '/')
      else yield* listChanges(files, await home.reader.run(() => home.trees.diff(before.root, root)))
    },
    findType: async (path) => findType(files, path),
  }
}

/** Yields the changes of a step. Removals come first, because their paths may be reused. */
async function* listChanges(
  source: VaultSource,
  found: readonly FileChange[],
): AsyncGenerator<ExportedChange> {
  for (const { kind, path, from, before } of found) {
    if (kind === 'renamed' && from !== undefined) yield { kind: 'remove', path: from }
    if (kind === 'deleted' && before?.type !== 'directory') yield { kind: 'remove', path }
  }
  for (const { kind, path } of found) if (kind !== 'deleted') yield* listAll(source, path)
}

/** Yields the files at and below a path. */
async function* listAll(source: VaultSource, path: string): AsyncGenerator<ExportedChange> {
  const found = await findEntry(source, path)
  if (found === undefined) return
  if (found.inode.type !== 'directory') {
    yield toExportedChange(source, path, found)
    return
  }
  const walk = new VaultTreeWalk(source, found)
  const above = [path]
  for (let step = await walk.next(); step !== undefined; step = await walk.next()) {
    if ('left' in step) {
      above.pop()
      continue
    }
    const entryPath = child(above.at(-1) ?? '/', step.entry.name)
    if (step.entry.inode.type === 'directory') {
      above.push(entryPath)
      walk.enter(step.entry)
    } else yield toExportedChange(source, entryPath, step.entry)
  }
}

function toExportedChange(source: VaultSource, path: string, { number, inode }: SourceEntry): ExportedChange {
  if (inode.type === 'symlink') return { kind: 'symlink', path, target: toInlineText(inode.content) }
  if (inode.type !== 'file') return { kind: 'other', path }
  const { mode, size } = inode
  return { kind: 'file', path, mode, size, content: () => readContent(source, number, size) }
}

async function* readContent(source: VaultSource, number: number, size: number): AsyncGenerator<Uint8Array> {
  for (let position = 0; position < size; ) {
    const part = await source.readPart(number, position)
    yield* part
    position += part.reduce((sum, { length }) => sum + length, 0)
  }
}

/** Finds the entry of a path. Follows no link: the path belongs to this tree. */
function findEntry(source: VaultSource, path: string): Promise<SourceEntry | undefined> {
  return Promise.resolve(
    source.read((files) => {
      const number = files.findByPath(path)
      return number === undefined ? undefined : { name: '', number, inode: files.getInode(number) }
    }),
  )
}

async function findType(source: VaultSource, path: string): Promise<FileType | undefined> {
  return (await findEntry(source, path))?.inode.type
}
