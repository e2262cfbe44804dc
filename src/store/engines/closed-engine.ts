import { VfsError } from '../../vfs/index.ts'
import type { Engine } from '../engine.ts'

/** Replaces the engine of a closed home: every call but `close` throws EBADF, so that no operation needs a check. */
export class ClosedEngine implements Engine {
  readonly name: string
  readonly isSync: boolean
  readonly isReadOnly: boolean
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.name = engine.name
    this.isSync = engine.isSync === true
    this.isReadOnly = engine.isReadOnly === true
    this.#engine = engine
  }

  readPage(): never {
    throw createClosedHomeError('read')
  }

  readBlob(): never {
    throw createClosedHomeError('read')
  }

  findBlob(): never {
    throw createClosedHomeError('read')
  }

  readRecord(): never {
    throw createClosedHomeError('read')
  }

  listRecords(): never {
    throw createClosedHomeError('read')
  }

  readJournal(): never {
    throw createClosedHomeError('read')
  }

  listPages(): never {
    throw createClosedHomeError('read')
  }

  listBlobs(): never {
    throw createClosedHomeError('read')
  }

  usage(): never {
    throw createClosedHomeError('read')
  }

  changeCount(): never {
    throw createClosedHomeError('read')
  }

  commit(): never {
    throw createClosedHomeError('commit')
  }

  sync(): never {
    throw createClosedHomeError('sync')
  }

  close(): Promise<void> {
    return this.#engine.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

function createClosedHomeError(op: string): VfsError {
  return new VfsError('EBADF', '/', { op, detail: 'the home is closed; open it again' })
}
