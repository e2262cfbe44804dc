import type { Home } from '../../backends/vault/index.ts'
import type { CallContext } from '../../vfs/index.ts'
import { createForkName } from '../../workspace/index.ts'

/** Restores a vault to the state after a row of its journal, in one commit. ECONFLICT if it changes meanwhile. */
export async function restoreRow(
  home: Home,
  vault: string,
  row: number,
  { caller }: Pick<CallContext, 'caller'>,
): Promise<void> {
  const [before, after] = [createForkName(), createForkName()]
  const created: string[] = []
  try {
    await home.fork(vault, before, { row })
    created.push(before)
    await home.fork(vault, after)
    created.push(after)
    const provenance = caller === undefined ? {} : { caller }
    await home.restoreFork(vault, { before, after, label: `row ${row}`, ...provenance })
  } finally {
    for (const name of created) await home.deleteVault(name)
  }
}
