import { setImmediate as nextTurn } from 'node:timers/promises'
import { toFileTime } from '../../../machine/index.ts'
import {
  adoptTree,
  assertAdoptable,
  CHUNK_BYTES,
  type Checkpoint,
  createCheckpoint,
  type ExtraRecords,
  MIN_SEGMENTED_BYTES,
  SEGMENT_BYTES,
  type StoreHome,
  Tree,
  Upload,
  VaultFiles,
  type VaultLog,
} from '../../../store/index.ts'
import { type CallContext, isVfsError, VfsError } from '../../../vfs/index.ts'
import { toProvenance } from '../to-provenance.ts'
import type { TransferProgress } from './progress.ts'
import { ReceivedTree } from './received-tree.ts'
import { type ForkTransfer, getForkBase } from './send.ts'
import { StagedTree } from './staged-tree.ts'
import { createStreamError, FrameReader, frames } from './stream-format.ts'
import { decodeEnd, decodeHeader, decodeOperations, type StreamHeader } from './stream-operations.ts'

/** Options of `receive`. */
export interface ReceiveOptions extends CallContext {
  /** The name of the received vault. The sender's name when absent. */
  readonly as?: string
  /** Called every few hundred operations. */
  readonly onProgress?: (progress: TransferProgress) => void
}

/** Result of `receive`. */
export interface ReceiveReport {
  readonly operations: number
  readonly blobs: number
  /** Bytes of received content. */
  readonly bytes: number
  readonly vault: string
  readonly checkpoint?: string
  /** The checkpoint that the changes are based on. */
  readonly since?: string
}

/**
 * Receives a stream of `sendVault`: a whole vault under a new name, or the changes since a checkpoint of the vault.
 * Throws EEXIST if the name is used, ENOENT if the vault lacks the checkpoint, and ECONFLICT if it was changed since.
 *
 * The receive is atomic: the tree is published in one step after everything is verified. EIO for a damaged stream,
 * EINVAL for an invalid one, ENOTSUP for a later version.
 */
export async function receiveVault(
  home: StoreHome,
  stream: AsyncIterable<Uint8Array>,
  options: ReceiveOptions & ForkTransfer = {},
): Promise<ReceiveReport> {
  const reader = new FrameReader(stream)
  // While it is held, no garbage collection removes the unreferenced blobs.
  await using upload = new Upload(home.blobs)
  try {
    options.signal?.throwIfAborted()
    await reader.start()
    const first = await reader.next()
    if (first.type !== frames.header)
      throw createStreamError('EINVAL', 'the stream does not start with a header; send it again')
    const header = decodeHeader(first.payload)
    const name = options.as ?? header.vault
    const target =
      header.base === undefined
        ? await createVaultTarget(home, name, header, upload.extraRecords)
        : await createUpdateTarget(home, name, header, { ...options, extraRecords: upload.extraRecords })
    await upload.hold()
    return await new ReceiveJob(home, reader, upload, target, options).run(name, header)
  } finally {
    await reader.close()
  }
}

/** The tree that a stream is applied to, and the step that publishes it. */
interface ReceiveTarget {
  readonly files: VaultFiles
  readonly seq: number
  publish(root: number): Promise<void>
}

async function createVaultTarget(
  home: StoreHome,
  name: string,
  { checkpoint }: StreamHeader,
  extraRecords: ExtraRecords,
): Promise<ReceiveTarget> {
  await assertAdoptable(home, name, checkpoint)
  const files = new VaultFiles(new Tree(home.cache))
  files.createRoot({ time: toFileTime(BigInt(Date.now()) * 1_000_000n), seq: 0 })
  const publish = async (root: number) => {
    await adoptTree(home, name, root, checkpoint, extraRecords)
  }
  return { files, seq: 0, publish }
}

async function createUpdateTarget(
  home: StoreHome,
  name: string,
  { base, checkpoint }: StreamHeader,
  options: ReceiveOptions & ForkTransfer & { readonly extraRecords: ExtraRecords },
): Promise<ReceiveTarget> {
  const log = await getExistingVault(home, name)
  const checkpoints = home.getCheckpoints(log)
  const { sinceFork } = options
  const stored =
    sinceFork === undefined ? await home.reader.run(() => checkpoints.list()) : [getForkBase(log, sinceFork)]
  const from = stored.find(({ uid }) => uid === base?.uid)
  if (from === undefined) {
    const detail = `'${name}' has no checkpoint '${base?.name}' of this vault; send the whole vault, or the changes since a checkpoint it has`
    throw new VfsError('ENOENT', name, { op: 'receive', detail })
  }
  if (checkpoint !== undefined) await home.reader.run(() => checkpoints.assertFree(checkpoint.name))
  await home.reader.run(() => assertUnchanged(home, name, log.readFiles(), from))
  const publish = async (root: number) => {
    const restore = { op: 'restore', path: '/', root, checkpoint: checkpoint?.name ?? from.name } as const
    await log.submit(
      (files) => {
        assertUnchanged(home, name, files, from)
        return restore
      },
      toProvenance(options),
      options.extraRecords,
    )
    if (checkpoint === undefined) await log.sync()
    else await createCheckpoint(log, checkpoints, checkpoint.name, checkpoint)
  }
  return { files: home.trees.getFilesAt(from.root), seq: log.seq + 1, publish }
}

async function getExistingVault(home: StoreHome, name: string): Promise<VaultLog> {
  try {
    return await home.openVault(name)
  } catch (error) {
    if (!isVfsError(error, 'ENOENT')) throw error
    const detail = `there is no vault '${name}' to apply the changes to; send the whole vault first`
    throw new VfsError('ENOENT', name, { op: 'receive', detail })
  }
}

/** Throws ECONFLICT if the vault changed since the base: these changes would be lost. */
function assertUnchanged(
  home: StoreHome,
  name: string,
  files: VaultFiles,
  { name: base, root }: Pick<Checkpoint, 'name' | 'root'>,
): void {
  if (home.trees.listChangedInodes(root, files.tree.snapshot()).size === 0) return
  const detail = `'${name}' was changed since its checkpoint '${base}'; restore the checkpoint in '${name}' or in a fork of it`
  throw new VfsError('ECONFLICT', name, { op: 'receive', detail })
}

/** Receives one stream. */
class ReceiveJob {
  readonly #home: StoreHome
  readonly #reader: FrameReader
  readonly #upload: Upload
  readonly #target: ReceiveTarget
  readonly #options: ReceiveOptions
  readonly #stagedTree: StagedTree
  readonly #tree: ReceivedTree
  readonly #counts = { operations: 0, blobs: 0, bytes: 0 }
  /** Blobs that wait to be stored together: operations after them refer to them. */
  #waiting: Uint8Array[] = []
  #waitingBytes = 0

  constructor(
    home: StoreHome,
    reader: FrameReader,
    upload: Upload,
    target: ReceiveTarget,
    options: ReceiveOptions,
  ) {
    this.#home = home
    this.#reader = reader
    this.#upload = upload
    this.#target = target
    this.#options = options
    this.#stagedTree = new StagedTree(home, target.files, target.seq)
    this.#tree = new ReceivedTree(this.#stagedTree)
  }

  async run(vault: string, { checkpoint, base }: StreamHeader): Promise<ReceiveReport> {
    const root = await this.#receiveAll()
    // From here on the vault may reference the stored blobs, even if this fails; a collection removes the rest.
    await this.#target.publish(root)
    const named = checkpoint === undefined ? {} : { checkpoint: checkpoint.name }
    return { vault, ...named, ...(base !== undefined && { since: base.name }), ...this.#counts }
  }

  /** Stores the stream and returns the root of its tree. After a failure nothing of it is left. */
  async #receiveAll(): Promise<number> {
    try {
      while (await this.#receiveFrame());
      await this.#storeWaiting()
      const root = await this.#stagedTree.flushPages()
      await this.#upload.flush()
      this.#options.signal?.throwIfAborted()
      return root
    } catch (error) {
      await this.#stagedTree.discard()
      throw error
    }
  }

  /** Returns false after the last frame. */
  async #receiveFrame(): Promise<boolean> {
    const { type, payload } = await this.#reader.next()
    if (type === frames.blob) await this.#receiveBlob(payload)
    else if (type === frames.operations) await this.#receiveOperations(payload)
    else if (type === frames.end) await this.#verify(payload)
    else
      throw createStreamError('EINVAL', `the stream has a frame of the unknown type ${type}; update coppice`)
    return type !== frames.end
  }

  async #receiveBlob(payload: Buffer): Promise<void> {
    if (payload.length === 0 || payload.length > CHUNK_BYTES)
      throw createStreamError('EINVAL', 'a blob of the stream has an invalid size')
    // Copied, because it may wait for a commit while the next part arrives.
    const bytes = new Uint8Array(payload)
    this.#waiting.push(bytes)
    this.#waitingBytes += bytes.length
    this.#counts.blobs++
    this.#counts.bytes += bytes.length
    if (this.#waitingBytes > SEGMENT_BYTES - CHUNK_BYTES) await this.#storeWaiting()
  }

  /** Stores blobs: many bytes in a segment, few in rows. */
  async #storeWaiting(): Promise<void> {
    const [waiting, bytes] = [this.#waiting, this.#waitingBytes]
    this.#waiting = []
    this.#waitingBytes = 0
    if (this.#upload.hasSegments && bytes > MIN_SEGMENTED_BYTES) {
      for (const ref of await this.#upload.storeInSegment(waiting)) this.#tree.addBlob(ref)
      return
    }
    for (const chunk of waiting)
      this.#tree.addBlob(await this.#home.reader.run(() => this.#upload.put(chunk)))
    await this.#upload.flushIfLarge()
  }

  async #receiveOperations(payload: Buffer): Promise<void> {
    const operations = decodeOperations(payload)
    await this.#storeWaiting()
    await this.#tree.apply(operations)
    this.#counts.operations += operations.length
    await this.#stagedTree.flushIfLarge()
    await nextTurn()
    this.#options.signal?.throwIfAborted()
    this.#options.onProgress?.({ done: this.#counts.operations, bytes: this.#counts.bytes })
  }

  async #verify(payload: Buffer): Promise<void> {
    const end = decodeEnd(payload)
    const { operations, blobs, bytes } = this.#counts
    const isComplete = end.operations === operations && end.blobs === blobs && end.bytes === bytes
    if (!isComplete || end.sha256 !== this.#reader.digest)
      throw this.#reader.createDamageError('a part is missing')
    await this.#reader.assertEnd()
  }
}
