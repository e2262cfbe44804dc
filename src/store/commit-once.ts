import { isVfsError, VfsError } from '../vfs/index.ts'
import { decodeChecksummedJson } from './checksummed-json.ts'
import type { Batch, JournalRow, MaybePromise, RecordRow } from './engine.ts'
import type { EngineReader } from './engine-reader.ts'
import { getErrorMessage } from './engines/engine-errors.ts'
import { chain } from './maybe-promise.ts'

/**
 * Commits a batch and reports whether the store has it; false if it was refused. A failed commit may have succeeded
 * with its response lost, so `isStored` then reads the store; so it does if a remote engine refuses. If the batch is
 * absent after a failure, throws the failure. EUNKNOWN if the read fails too. EBADF if the home is closed.
 */
export function commitOnce(
  reader: EngineReader,
  batch: Batch,
  isStored: () => boolean,
): MaybePromise<boolean> {
  let result: MaybePromise<boolean>
  try {
    result = reader.engine.commit(batch)
  } catch (error) {
    // The home is closed: nothing was committed.
    if (isVfsError(error, 'EBADF')) throw error
    return resolveOutcome(reader, error, isStored)
  }
  if (!(result instanceof Promise)) return result
  return result.then(
    // A retry on the way to a remote engine may send a batch twice: the first one then refuses the second.
    (isAccepted) => isAccepted || checkStored(reader, new Error('it was refused'), isStored),
    (error) => resolveOutcome(reader, error, isStored),
  )
}

function resolveOutcome(
  reader: EngineReader,
  failure: unknown,
  isStored: () => boolean,
): MaybePromise<boolean> {
  return chain(checkStored(reader, failure, isStored), (isFound) => {
    if (!isFound) throw failure
    return true
  })
}

function checkStored(reader: EngineReader, failure: unknown, isStored: () => boolean): MaybePromise<boolean> {
  const readOutcome = () =>
    chain(reader.run(isStored), (isFound) => {
      // The lost acknowledgement would have promised durability.
      return isFound && chain(reader.engine.sync(), () => true)
    })
  return attempt(readOutcome, (cause) => {
    throw createUnknownOutcomeError(failure, cause)
  })
}

/** Runs work, and passes its failure to `fail`, whether it throws or rejects. */
function attempt<T>(work: () => MaybePromise<T>, fail: (error: unknown) => T): MaybePromise<T> {
  try {
    const result = work()
    return result instanceof Promise ? result.catch(fail) : result
  } catch (error) {
    return fail(error)
  }
}

/** Creates EUNKNOWN for a change that failed while the store cannot be read either. */
export function createUnknownOutcomeError(failure: unknown, cause: unknown): VfsError {
  const detail = `the store did not confirm the change (${getErrorMessage(failure)}), and could not be asked (${getErrorMessage(cause)}); read before you try again`
  return new VfsError('EUNKNOWN', '/', { op: 'commit', detail, cause: failure })
}

/**
 * Reports whether the journal has a row. Rows have random identities, so no other row has the same bytes. EIO if the
 * row was pruned, so that nobody can know.
 */
export function isRowStored(reader: EngineReader, { vault, seq, bytes }: JournalRow): boolean {
  const [found] = reader.readJournal(vault, seq - 1, 1)
  if (found === undefined) return false
  if (found.seq === seq) return Buffer.compare(found.bytes, bytes) === 0
  throw new VfsError('EIO', '/', { op: 'commit', detail: `row ${seq} of the journal was pruned meanwhile` })
}

/** Reports whether the store has the record of a vault or checkpoint, as given or changed since; for null, has none. */
export function isRecordStored(reader: EngineReader, { key, bytes }: RecordRow): boolean {
  const found = reader.readRecord(key)
  if (found === undefined || bytes === null) return found === undefined && bytes === null
  return Buffer.compare(found, bytes) === 0 || getRecordIdentity(key, found) === getRecordIdentity(key, bytes)
}

/** Returns the number of a vault or the uid of a checkpoint; both are unique. */
function getRecordIdentity(key: string, bytes: Uint8Array): string | number | undefined {
  const { uid, id } = decodeChecksummedJson<{ readonly uid?: string; readonly id?: number }>(bytes, key)
  return uid ?? id
}
