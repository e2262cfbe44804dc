import { VfsError } from '../vfs/index.ts'
import { encodeChecksummedJson } from './checksummed-json.ts'
import type { StoreHome } from './store-home.ts'
import { countUnstored, type EncodedPage, flushNodes } from './tree/node-cache.ts'
import { decodeCheckpoint } from './vault/checkpoints.ts'
import { replayJournal } from './vault/replay-journal.ts'
import { type Ancestor, encodeHead, type VaultHead, vaultKey } from './vault/vault-head.ts'
import type { VaultLog } from './vault/vault-log.ts'
import { quotaKey } from './vault/vault-quota.ts'
import { assertVaultName, createVaultExistsError } from './vault-name.ts'

/**
 * Forks a vault as it is now; durable when it resolves, unless `isDurable` is false. Takes as long as a flush, whatever
 * the vault holds. Throws EINVAL if the name is invalid, EEXIST if it is taken, ENOENT if the source is missing.
 */
export async function forkVault(
  home: StoreHome,
  source: string,
  name: string,
  { isDurable = true }: { readonly isDurable?: boolean } = {},
): Promise<VaultLog> {
  assertVaultName(name)
  const log = await home.openVault(source)
  const id = await home.reader.run(() => home.ids.next())
  const quota = await inheritQuota(home, log, id)
  const heads: VaultHead[] = []
  await log.flushPages({
    durable: isDurable,
    check: () => {
      if (home.reader.readRecord(vaultKey(name)) !== undefined) throw createVaultExistsError(name)
    },
    records: ({ id: vault, root, seq }) => {
      const head = createForkHead(log.head, { vault: source, id: vault, root, seq, time: Date.now() }, id)
      heads.push(head)
      return [{ key: vaultKey(name), bytes: encodeHead(head) }, ...quota]
    },
  })
  const head = heads.at(-1)
  if (head === undefined) throw new Error('a successful flush has created its records')
  return home.openLog(name, head)
}

/**
 * Forks a vault as it was at a checkpoint. Throws ENOENT if the vault or checkpoint is missing, ECONFLICT if that is
 * removed meanwhile; for the name as `forkVault` does.
 */
export async function forkVaultAt(
  home: StoreHome,
  source: string,
  checkpoint: string,
  name: string,
): Promise<VaultLog> {
  assertVaultName(name)
  const log = await home.openVault(source)
  const record = await home.reader.run(() => home.getCheckpoints(log).readRecord(checkpoint))
  const { root, seq, time } = decodeCheckpoint(record)
  const id = await home.reader.run(() => home.ids.next())
  const head = createForkHead(log.head, { vault: source, id: log.head.id, root, seq, time }, id)
  return home.recordVault(name, head, { expect: [record], records: await inheritQuota(home, log, id) })
}

/**
 * Forks a vault as it was after a row of its journal, by the rows up to it. Throws ENOENT if the vault is missing or a
 * garbage collection removed the rows, EINVAL for a row that does not exist; for the name as `forkVault` does.
 */
export async function forkVaultAtRow(
  home: StoreHome,
  source: string,
  row: number,
  name: string,
): Promise<VaultLog> {
  assertVaultName(name)
  const log = await home.openVault(source)
  // A merge expects that the stored tree of the source includes the fork point.
  await log.flushPages({ durable: true })
  const { tree } = await replayJournal(home, log, row)
  const hold = home.session.hold(tree)
  try {
    const snapshot = tree.snapshot()
    await home.reader.run(() => home.ids.ensure(countUnstored(snapshot) + 1))
    const pages: EncodedPage[] = []
    const root = flushNodes(snapshot, home.codec, home.ids.next, (page) => pages.push(page))
    const id = home.ids.next()
    const origin = { vault: source, id: log.head.id, root, seq: row, time: Date.now() }
    const records = await inheritQuota(home, log, id)
    return await home.recordVault(name, createForkHead(log.head, origin, id), { pages, records })
  } finally {
    hold.release()
  }
}

/**
 * Forks a vault at the point where a sibling was forked. Throws ENOENT if the sibling is missing, EINVAL if it is not a
 * fork of the vault; for the name as `forkVault` does. The vault itself may be deleted.
 */
export async function forkFromSameBase(
  home: StoreHome,
  source: string,
  sibling: string,
  name: string,
): Promise<VaultLog> {
  assertVaultName(name)
  const log = await home.openVault(sibling)
  const [ancestor] = log.head.lineage
  if (ancestor?.vault !== source) {
    const detail = `'${sibling}' is not a fork of '${source}'`
    throw new VfsError('EINVAL', sibling, { op: 'fork', detail })
  }
  const { root, seq } = ancestor
  const id = await home.reader.run(() => home.ids.next())
  const head: VaultHead = { id, root, seq, created: Date.now(), lineage: log.head.lineage }
  return home.recordVault(name, head, { records: await inheritQuota(home, log, id) })
}

/** Returns the records with the quota of a vault for its fork, which may not hold more than its source. */
async function inheritQuota(
  home: StoreHome,
  log: VaultLog,
  fork: number,
): Promise<{ key: string; bytes: Uint8Array }[]> {
  const quota = await home.reader.run(() => log.quota)
  if (Object.keys(quota).length === 0) return []
  return [{ key: quotaKey(fork), bytes: encodeChecksummedJson(quota) }]
}

function createForkHead({ lineage }: VaultHead, ancestor: Ancestor, id: number): VaultHead {
  const { root, seq } = ancestor
  // An early checkpoint may precede some of the ancestors; they stay in the lineage.
  return { id, root, seq, created: Date.now(), lineage: [ancestor, ...lineage] }
}
