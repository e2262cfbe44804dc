import { FileHistory, replayJournal, type StoreHome, type VaultLog } from '../../store/index.ts'
import { type CallContext, checkPath } from '../../vfs/index.ts'
import { toProvenance } from './to-provenance.ts'
import {
  type BlameLine,
  blameFile,
  type FileVersion,
  findVersion,
  listVersions,
  readVersionContent,
  toFileVersion,
} from './versions.ts'

/** The versions of the files of a vault. */
export class VaultVersions {
  readonly #home: StoreHome
  readonly #log: VaultLog

  constructor(home: StoreHome, log: VaultLog) {
    this.#home = home
    this.#log = log
  }

  /** Yields the versions of a file, the newest first; none of a file that was never written. EISDIR. */
  async *list(path: string): AsyncGenerator<FileVersion> {
    for await (const version of listVersions(this.#home, await this.#openHistory(path)))
      yield toFileVersion(version)
  }

  /** Yields the content of a version. ENOENT. */
  async *read(path: string, version: string): AsyncGenerator<Uint8Array> {
    const history = await this.#openHistory(path)
    yield* readVersionContent(this.#home, history, await findVersion(this.#home, history, path, version))
  }

  /** Restores the content of a version as a new version. ENOENT. */
  async revert(path: string, version: string, ctx?: CallContext): Promise<void> {
    const history = await this.#openHistory(path)
    const found = await findVersion(this.#home, history, path, version)
    const content = await this.#home.reader.run(() => history.getContent(found))
    const to = { version: found.entry.seq, content }
    const checked = checkPath(path, 'revert')
    await this.#log.submit(() => ({ op: 'revert', path: checked, ...to }), toProvenance(ctx))
  }

  /** Returns each line of a file with the version that added it, as of a row of the journal. */
  async blame(path: string, row?: number): Promise<BlameLine[]> {
    return blameFile(this.#home, await this.#openHistory(path, row))
  }

  async #openHistory(path: string, row?: number): Promise<FileHistory> {
    const checked = checkPath(path, 'versions')
    await this.#log.commitPending()
    const earlier = row === undefined ? undefined : await replayJournal(this.#home, this.#log, row)
    return this.#home.reader.run(() => {
      const files = earlier ?? this.#log.readFiles()
      return new FileHistory(
        this.#log.journal,
        files,
        files.resolveLinks(checked, true, 'versions'),
        row ?? this.#log.seq,
      )
    })
  }
}
