import { VfsError } from '../vfs/index.ts'
import { decodeChecksummedJson } from './checksummed-json.ts'
import type { Batch, JournalRow, MaybePromise, RecordRow } from './engine.ts'
import { chain, type EngineReader } from './engine-reader.ts'
import { getErrorMessage } from './engines/engine-errors.ts'

/**
 * Commits a batch, and returns whether it is in the store. A commit that fails may have been done all the same, its
 * answer lost on the way: then `isStored` looks into the store. If the batch is not there, the failure is thrown;
 * EUNKNOWN if that cannot be found out.
 */
export function commitOnce(
  reader: EngineReader,
  batch: Batch,
  isStored: () => boolean,
): MaybePromise<boolean> {
  let answer: MaybePromise<boolean>
  try {
    answer = reader.engine.commit(batch)
  } catch (error) {
    return resolveOutcome(reader, error, isStored)
  }
  if (!(answer instanceof Promise)) return answer
  reader.markRemote()
  return answer.then(
    // On the way to a remote engine a batch may have been sent twice: then the second is refused for the first.
    (isAccepted) => isAccepted || checkStored(reader, new Error('it was refused'), isStored),
    (error) => resolveOutcome(reader, error, isStored),
  )
}

function resolveOutcome(
  reader: EngineReader,
  failure: unknown,
  isStored: () => boolean,
): MaybePromise<boolean> {
  return chain(checkStored(reader, failure, isStored), (isThere) => {
    if (!isThere) throw failure
    return true
  })
}

function checkStored(reader: EngineReader, failure: unknown, isStored: () => boolean): MaybePromise<boolean> {
  const look = () =>
    chain(reader.run(isStored), (isThere) => {
      // The acknowledgement that did not come would have promised this.
      return isThere && chain(reader.engine.sync(), () => true)
    })
  return attempt(look, (cause) => {
    throw createUnknownOutcomeError(failure, cause)
  })
}

/** Does something that may fail at once or later. */
function attempt<T>(work: () => MaybePromise<T>, fail: (error: unknown) => T): MaybePromise<T> {
  try {
    const result = work()
    return result instanceof Promise ? result.catch(fail) : result
  } catch (error) {
    return fail(error)
  }
}

/** EUNKNOWN for a change that failed, where the store cannot be asked either. */
export function createUnknownOutcomeError(failure: unknown, cause: unknown): VfsError {
  const detail = `the store did not confirm the change (${getErrorMessage(failure)}), and could not be asked (${getErrorMessage(cause)}); read before you try again`
  return new VfsError('EUNKNOWN', '/', { op: 'commit', detail, cause: failure })
}

/** Whether a row is in its journal. Rows have random identities, so no other row has the same bytes. */
export function isRowStored(reader: EngineReader, { vault, seq, bytes }: JournalRow): boolean {
  const [found] = reader.readJournal(vault, seq - 1, 1)
  if (found === undefined) return false
  if (found.seq === seq) return Buffer.compare(found.bytes, bytes) === 0
  throw new VfsError('EIO', '/', { op: 'commit', detail: `row ${seq} of the journal was pruned meanwhile` })
}

/** Whether a record that names a vault or a checkpoint is in the store, as it was made or as it became since. */
export function isRecordStored(reader: EngineReader, { key, bytes }: RecordRow): boolean {
  const found = reader.readRecord(key)
  if (found === undefined || bytes === null) return found === undefined && bytes === null
  return Buffer.compare(found, bytes) === 0 || getRecordIdentity(key, found) === getRecordIdentity(key, bytes)
}

/** The number of a vault, or the uid of a checkpoint: no other has it. */
function getRecordIdentity(key: string, bytes: Uint8Array): string | number | undefined {
  const { uid, id } = decodeChecksummedJson<{ readonly uid?: string; readonly id?: number }>(bytes, key)
  return uid ?? id
}
