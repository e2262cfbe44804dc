import { type Checkpoint, type FileChange, inlineText, type StoreHome } from '../../../../store/index.ts'
import { child, type FileType } from '../../../../vfs/index.ts'
import { type SourceEntry, TreeWalk, VaultSource } from '../vault-source.ts'
import type { PastChange, PastStep } from './history.ts'

/**
 * Yields every checkpoint of a vault, the oldest first, those before it was forked included. Nothing is collected
 * meanwhile. ENOENT.
 */
export async function* historyOf(home: StoreHome, vault: string): AsyncGenerator<PastStep> {
  await using source = await VaultSource.open(home, vault, undefined)
  const checkpoints = await home.reader.resolve(() => [
    ...home.inheritedCheckpoints(source.log),
    ...home.checkpoints(source.log).list(),
  ])
  const byId = new Map(checkpoints.map((checkpoint) => [checkpoint.uid, checkpoint]))
  for (const checkpoint of checkpoints) yield stepOf(home, source, byId, checkpoint)
}

function stepOf(
  home: StoreHome,
  source: VaultSource,
  byId: ReadonlyMap<string, Checkpoint>,
  { uid, name, time, description, meta, root }: Checkpoint,
): PastStep {
  const files = source.sibling(home.filesAt(root))
  return {
    id: uid,
    name,
    time: new Date(time),
    ...(description !== undefined && { description }),
    ...(meta !== undefined && { meta }),
    async *changesSince(base) {
      const before = base === undefined ? undefined : byId.get(base)
      if (before === undefined) yield* everything(files, '/')
      else yield* changes(files, await home.reader.resolve(() => home.diff(before.root, root)))
    },
    typeOf: async (path) => typeAt(files, path),
  }
}

/** Removals first: something else may come to their places. */
async function* changes(source: VaultSource, found: readonly FileChange[]): AsyncGenerator<PastChange> {
  for (const { kind, path, from, before } of found) {
    if (kind === 'renamed' && from !== undefined) yield { kind: 'remove', path: from }
    if (kind === 'deleted' && before?.type !== 'directory') yield { kind: 'remove', path }
  }
  for (const { kind, path } of found) if (kind !== 'deleted') yield* everything(source, path)
}

/** What is at a path and below it. */
async function* everything(source: VaultSource, path: string): AsyncGenerator<PastChange> {
  const found = await entryAt(source, path)
  if (found === undefined) return
  if (found.inode.type !== 'directory') {
    yield changeOf(source, path, found)
    return
  }
  const walk = new TreeWalk(source, found)
  const above = [path]
  for (let step = await walk.next(); step !== undefined; step = await walk.next()) {
    if ('left' in step) {
      above.pop()
      continue
    }
    const at = child(above.at(-1) ?? '/', step.entry.name)
    if (step.entry.inode.type === 'directory') {
      above.push(at)
      walk.enter(step.entry)
    } else yield changeOf(source, at, step.entry)
  }
}

function changeOf(source: VaultSource, path: string, { number, inode }: SourceEntry): PastChange {
  if (inode.type === 'symlink') return { kind: 'symlink', path, target: inlineText(inode.content) }
  if (inode.type !== 'file') return { kind: 'other', path }
  const { mode, size } = inode
  return { kind: 'file', path, mode, size, content: () => contentOf(source, number, size) }
}

async function* contentOf(source: VaultSource, number: number, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < size; ) {
    const part = await source.part(number, at)
    yield* part
    at += part.reduce((sum, { length }) => sum + length, 0)
  }
}

/** No link is followed: the path is one of this very tree. */
function entryAt(source: VaultSource, path: string): Promise<SourceEntry | undefined> {
  return Promise.resolve(
    source.read((files) => {
      const number = files.find(path)
      return number === undefined ? undefined : { name: '', number, inode: files.inode(number) }
    }),
  )
}

async function typeAt(source: VaultSource, path: string): Promise<FileType | undefined> {
  return (await entryAt(source, path))?.inode.type
}
