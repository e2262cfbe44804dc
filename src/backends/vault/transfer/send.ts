import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Checkpoint, Inode, MaybePromise, StoreHome, VaultLog } from '../../../store/index.ts'
import { child, VfsError } from '../../../vfs/index.ts'
import { ChangePlanner, type PlacedInode } from './change-plan.ts'
import { InodeSender } from './inode-sender.ts'
import type { TransferProgress } from './progress.ts'
import { STREAM_FORMAT } from './stream-format.ts'
import type { StreamCheckpoint } from './stream-operations.ts'
import { StreamWriter } from './stream-writer.ts'
import { type SourceEntry, VaultSource, VaultTreeWalk } from './vault-source.ts'

const ROOT = '/'

/** The state that changes are relative to, by which both sides know it. */
type TransferBase = Pick<Checkpoint, 'name' | 'uid' | 'root'>

/** Options of `send`. */
export interface SendOptions {
  /** The checkpoint to send. The current state when absent. */
  readonly checkpoint?: string
  /** Send only the changes since this checkpoint, which the receiver must have. */
  readonly since?: string
  readonly onProgress?: (progress: TransferProgress) => void
  readonly signal?: AbortSignal
}

/** Options of a transfer between two homes that have a fork of the same state. */
export interface ForkTransfer {
  /**
   * Sends only the changes since the fork, or since the checkpoint in `since`, to a fork of the same state. The receiver
   * must give it the same name.
   */
  readonly sinceFork?: string
}

/**
 * Streams a vault for `receiveVault`, in this home or another: files, links, permissions, times, tags and metadata, but
 * no history. A whole vault takes constant memory, apart from a number for each blob; changes take memory and time in
 * proportion to them. ENOENT for a missing vault or checkpoint.
 */
export async function* sendVault(
  home: StoreHome,
  vault: string,
  { checkpoint, since, sinceFork, signal, onProgress }: SendOptions & ForkTransfer = {},
): AsyncGenerator<Uint8Array> {
  signal?.throwIfAborted()
  await using source = await VaultSource.open(home, vault, checkpoint)
  const { log, root, checkpoint: target } = source
  const base = await findBase(home, log, since, sinceFork)
  const writer = new StreamWriter({
    format: STREAM_FORMAT,
    vault,
    ...(target !== undefined && { checkpoint: toStreamCheckpoint(target) }),
    ...(base && { base: { name: base.name, uid: base.uid } }),
  })
  const sending = base ? sendChanges(home, base.root, root, source, writer) : sendEverything(source, writer)
  for await (const _ of sending) {
    // Yield even if the consumer pulls synchronously.
    await nextTurn()
    signal?.throwIfAborted()
    yield* writer.takeReady()
    onProgress?.(writer.progress)
  }
  writer.end()
  yield* writer.takeReady()
  onProgress?.(writer.progress)
}

/** Finds the state since which changes are sent; undefined to send everything. */
async function findBase(
  home: StoreHome,
  log: VaultLog,
  since: string | undefined,
  sinceFork: string | undefined,
): Promise<TransferBase | undefined> {
  const checkpoint =
    since === undefined ? undefined : await home.reader.run(() => home.getCheckpoints(log).get(since))
  if (sinceFork === undefined) return checkpoint
  const base = getForkBase(log, sinceFork)
  // The receiver knows it as the state of the fork, although the changes begin later.
  return checkpoint === undefined ? base : { ...base, root: checkpoint.root }
}

/** Returns the state that a vault was forked from, as the base of a transfer. EINVAL if it is no fork. */
export function getForkBase(log: VaultLog, name: string): TransferBase {
  const [from] = log.head.lineage
  if (from !== undefined) return { name, uid: `fork-${name}`, root: from.root }
  throw new VfsError('EINVAL', name, { op: 'send', detail: 'the vault is no fork' })
}

/** Sends the whole tree. Pauses whenever the writer is full. */
async function* sendEverything(source: VaultSource, writer: StreamWriter): AsyncGenerator<void> {
  const sender = new InodeSender(source, writer)
  const root: SourceEntry = { name: '', ...(await source.find(ROOT, 'send')) }
  const walk = new VaultTreeWalk(source, root)
  const linked = new Map<number, string>()
  const directories = [ROOT]
  for (;;) {
    const next = walk.next()
    const step = next instanceof Promise ? await next : next
    if (step === undefined) return
    if ('left' in step) {
      const path = directories.pop() ?? ROOT
      if (step.left === root) yield* sender.sendAttachments({ number: root.number, path })
      writer.add(sender.createSetattr(path, step.left.inode))
    } else {
      const { name, number, inode } = step.entry
      const path = child(directories.at(-1) ?? ROOT, name)
      const first = linked.get(number)
      if (first !== undefined) writer.add({ op: 'link', path: first, to: path })
      else yield* sender.sendNew({ number, path }, inode)
      if (inode.links > 1 && first === undefined && inode.type !== 'directory') linked.set(number, path)
      if (inode.type === 'directory') {
        directories.push(path)
        walk.enter(step.entry)
      }
    }
    if (writer.isFull) yield
  }
}

/** Sends the steps from one tree to another. Pauses whenever the writer is full. */
async function* sendChanges(
  home: StoreHome,
  before: number,
  after: number,
  source: VaultSource,
  writer: StreamWriter,
): AsyncGenerator<void> {
  const base = source.withFiles(home.trees.getFilesAt(before))
  const plan = await home.reader.run(() =>
    new ChangePlanner(base.files, source.files).plan(home.trees.listChangedInodes(before, after)),
  )
  const sender = new InodeSender(source, writer)
  for (const operation of plan.vacate) writer.add(operation)
  yield
  for (const step of plan.settle) {
    if ('moved' in step) writer.add(step.moved)
    else yield* sender.sendNew(step.made, await readInode(source, step.made))
    if (writer.isFull) yield
  }
  for (const operation of [...plan.links, ...plan.tidy]) writer.add(operation)
  for (const inode of plan.changed) {
    yield* sender.sendChanges(inode, base)
    if (writer.isFull) yield
  }
  for (const inode of plan.directories)
    writer.add(sender.createSetattr(inode.path, await readInode(source, inode)))
}

function readInode(source: VaultSource, { number }: PlacedInode): MaybePromise<Inode> {
  return source.read((files) => files.getInode(number))
}

function toStreamCheckpoint({ name, uid, description, meta }: Checkpoint): StreamCheckpoint {
  return {
    name,
    uid,
    ...(description !== undefined && { description }),
    ...(meta !== undefined && { meta }),
  }
}
