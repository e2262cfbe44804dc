import { randomBytes, randomInt } from 'node:crypto'
import type { Vault } from '../../../src/backends/vault/index.ts'
import { type FileHandle, isOpenable } from '../../../src/vfs/index.ts'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { generateDistinctChunks } from '../chunks.ts'
import { chooseScale } from '../scale.ts'
import { bytesOnDisk, openBenchHome } from './homes.ts'

const BLOCK_BYTES = 4096
const CHUNK_BYTES = 64 * 1024
const PATH = '/large.bin'

/** Blocks of a large file, overwritten at random places one after the other, and what the home grows by. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const { largeFileBytes, overwrites } = chooseScale(settings)
  const directory = `${settings.directory}/overwrites-${process.pid}`
  const canOpen = await fill(settings, directory, largeFileBytes)
  if (!canOpen) {
    recorder.skip('overwrite', 'not yet')
    recorder.skip('overwrite-growth', 'not yet')
    return
  }
  const before = await bytesOnDisk(directory)
  recorder.progress('overwrite')
  await using home = await openBenchHome(settings, directory)
  const seconds = await timeOverwrites(await home.vault('vault'), largeFileBytes, overwrites)
  await home.close()
  recorder.note('overwrite', seconds / overwrites)
  recorder.note('overwrite-growth', ((await bytesOnDisk(directory)) - before) / (overwrites * BLOCK_BYTES))
}

async function fill(settings: Settings, directory: string, size: number): Promise<boolean> {
  await using home = await openBenchHome(settings, directory)
  const vault = await home.createVault('vault')
  await vault.write(PATH, toStream(generateDistinctChunks(size, CHUNK_BYTES)))
  return isOpenable(vault)
}

async function timeOverwrites(vault: Vault, size: number, count: number): Promise<number> {
  if (!isOpenable(vault)) throw new Error('the vault cannot open files')
  await using handle = await vault.open(PATH, { write: true })
  const changes = Array.from({ length: count }, () => ({
    position: randomInt(size / BLOCK_BYTES) * BLOCK_BYTES,
    bytes: randomBytes(BLOCK_BYTES),
  }))
  const startedAt = performance.now()
  for (const { position, bytes } of changes) await handle.write(position, bytes)
  const seconds = (performance.now() - startedAt) / 1000
  await verify(handle, changes)
  return seconds
}

/** The last overwrite of a place is what must be there. */
async function verify(
  handle: FileHandle,
  changes: readonly { position: number; bytes: Uint8Array }[],
): Promise<void> {
  for (const [position, bytes] of new Map(changes.map((change) => [change.position, change.bytes]))) {
    const found = await handle.read(position, BLOCK_BYTES)
    if (Buffer.compare(found, bytes) !== 0) throw new Error(`wrong content at ${position}`)
  }
}

async function* toStream(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* chunks
}
