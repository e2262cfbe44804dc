import type { StoreHome } from '../store-home.ts'
import { decodeCheckpoint } from '../vault/checkpoints.ts'
import { decodeHead, vaultPrefix } from '../vault/vault-head.ts'
import type { Damage } from './damage.ts'
import { SalvagedTree } from './salvaged-tree.ts'

/** Limit of paths that are reported for one damaged object. */
const MAX_PLACES = 100

/**
 * Adds the places that damage affects: to a blob the files that use it, to a page the files whose attributes it had, in
 * every vault and checkpoint; to a vault or journal the name of the vault.
 */
export async function addDamagePlaces(home: StoreHome, damaged: readonly Damage[]): Promise<Damage[]> {
  if (damaged.length === 0) return []
  const blobs = new Map<number, string[]>()
  const pages = new Map<number, string[]>()
  for (const { kind, id } of damaged) {
    if (kind === 'blob') blobs.set(id, [])
    if (kind === 'page') pages.set(id, [])
  }
  const { names, trees } = await listNamedTrees(home)
  if (blobs.size + pages.size > 0) {
    for (const { label, root } of trees) {
      await home.reader.run(() => {
        const tree = new SalvagedTree(home, root)
        const files = tree.list()
        for (const { path, inode, blobs: parts } of files) {
          for (const { blob } of parts.values()) addPlace(blobs.get(blob), `${label}:${path}`)
          if (inode === undefined)
            for (const page of tree.damagedPages) addPlace(pages.get(page), `${label}:${path}`)
        }
        for (const page of tree.damagedPages) {
          if (pages.get(page)?.length === 0) addPlace(pages.get(page), `${label}:/`)
        }
      })
    }
  }
  return damaged.map((damage) => {
    const { kind, id } = damage
    if (kind === 'journal') {
      const vaults = damage.places?.map((place) => names.get(Number(place.slice('vault '.length))) ?? place)
      return { ...damage, places: vaults ?? [] }
    }
    const places =
      kind === 'blob' ? blobs.get(id) : kind === 'page' ? pages.get(id) : findVaultName(names, damage)
    return places === undefined || places.length === 0 ? damage : { ...damage, places }
  })
}

function findVaultName(names: ReadonlyMap<number, string>, { kind, id }: Damage): string[] | undefined {
  const name = kind === 'vault' ? names.get(id) : undefined
  return name === undefined ? undefined : [name]
}

function addPlace(places: string[] | undefined, place: string): void {
  if (places !== undefined && places.length < MAX_PLACES && !places.includes(place)) places.push(place)
}

/** Lists the trees of vaults and checkpoints. */
async function listNamedTrees(home: StoreHome): Promise<{
  readonly names: ReadonlyMap<number, string>
  readonly trees: readonly { readonly label: string; readonly root: number }[]
}> {
  return home.reader.run(() => {
    const names = new Map<number, string>()
    const trees: { label: string; root: number }[] = []
    for (const { key, bytes } of home.reader.listRecords(vaultPrefix)) {
      const head = bytes === null ? undefined : tryDecode(() => decodeHead(bytes))
      if (head === undefined) continue
      const label = key.slice(vaultPrefix.length)
      names.set(head.id, label)
      trees.push({ label, root: head.root })
    }
    for (const { key, bytes } of home.reader.listRecords('checkpoint/')) {
      const checkpoint = bytes === null ? undefined : tryDecode(() => decodeCheckpoint({ key, bytes }))
      const vault = names.get(Number(key.split('/')[1]))
      if (checkpoint !== undefined && vault !== undefined)
        trees.push({ label: `${vault}@${checkpoint.name}`, root: checkpoint.root })
    }
    return { names, trees }
  })
}

function tryDecode<T>(decode: () => T): T | undefined {
  try {
    return decode()
  } catch {
    // The check of records reports it.
    return undefined
  }
}
