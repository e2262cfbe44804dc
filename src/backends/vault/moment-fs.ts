import {
  getFirstDivergentInode,
  OpenInodes,
  replayJournal,
  type StoreHome,
  type VaultFiles,
  type VaultLog,
} from '../../store/index.ts'
import { type Diffable, type FileSystem, type PathChange, VfsError } from '../../vfs/index.ts'
import { toPathChange } from './to-path-change.ts'
import { VaultFs } from './vault-fs.ts'

/** A moment of a vault: now, at its fork, at a checkpoint, or after a row of its journal. */
export type VaultMoment = 'now' | 'fork' | { readonly checkpoint: string } | { readonly row: number }

/** A vault as it was at a moment. Every change is EROFS. Two of one home are compared in time of their changes. */
export class MomentFs extends VaultFs implements Diffable {
  readonly #home: StoreHome
  readonly #log: VaultLog
  readonly #files: VaultFiles

  private constructor(home: StoreHome, log: VaultLog, files: VaultFiles) {
    super(
      {
        openInodes: new OpenInodes(),
        readFiles: () => files,
        submit: async () => refuseChange(),
        submitSync: refuseChange,
      },
      home.blobs,
      ['diff'],
    )
    this.#home = home
    this.#log = log
    this.#files = files
  }

  /**
   * Opens a moment. ENOENT for an unknown checkpoint, or a row that a garbage collection removed. EINVAL for the fork of a
   * vault that is none.
   */
  static async open(home: StoreHome, log: VaultLog, moment: VaultMoment): Promise<MomentFs> {
    const files = await openFiles(home, log, moment)
    // A collection may otherwise remove the tree while this reads it.
    home.session.hold(files.tree)
    return new MomentFs(home, log, files)
  }

  diffFrom(before: FileSystem): AsyncIterable<PathChange> | null {
    return before instanceof MomentFs && before.#home === this.#home ? this.#diff(before) : null
  }

  async *#diff(before: MomentFs): AsyncGenerator<PathChange> {
    const [home, log, other] = [this.#home, this.#log, before.#log]
    const apartFrom =
      other.head.id === log.head.id
        ? undefined
        : await home.reader.run(() => getFirstDivergentInode(home, other.head, log.head))
    const changes = await home.reader.run(() =>
      home.trees.diff(before.#files.tree.snapshot(), this.#files.tree.snapshot(), apartFrom),
    )
    for (const change of changes) yield toPathChange(change)
  }
}

async function openFiles(home: StoreHome, log: VaultLog, moment: VaultMoment): Promise<VaultFiles> {
  if (typeof moment === 'object' && 'row' in moment) return replayJournal(home, log, moment.row)
  return home.session.withHolds(async (hold) =>
    home.trees.getFilesAt(hold(await findRoot(home, log, moment))),
  )
}

async function findRoot(
  home: StoreHome,
  log: VaultLog,
  moment: Exclude<VaultMoment, { readonly row: number }>,
): Promise<number> {
  if (moment === 'now') return log.flushForReading()
  if (moment !== 'fork') return home.reader.run(() => home.getCheckpoints(log).get(moment.checkpoint).root)
  const [from] = log.head.lineage
  if (from !== undefined) return from.root
  throw new VfsError('EINVAL', '/', { op: 'diff', detail: 'the vault is not a fork; name a checkpoint' })
}

function refuseChange(): never {
  const detail = 'an earlier state cannot be changed; change the vault or a fork of it'
  throw new VfsError('EROFS', '/', { detail })
}
