import { openHome } from '../../../src/backends/vault/index.ts'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { createServedFiles, measureMcp } from '../mcp.ts'
import { calls, coppice } from './calls.ts'
import { prepareServingHome } from './serving-home.ts'

/** The files in a vault, which is the workspace. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const home = prepareServingHome(settings, 'mcp-home')
  if (home.isNew) await fill(home.path, settings)
  await measureMcp(recorder, settings, {
    ...calls,
    args: coppice('mcp', '--home', home.path, '--vault', 'served', '--context', 'bench'),
    root: 'vfs:///workspace',
    list: (path) => ({ name: 'vfs_list', arguments: { path } }),
  })
}

async function fill(path: string, settings: Settings): Promise<void> {
  await using home = await openHome({ path })
  const vault = await home.createVault('served')
  await Promise.all(createServedFiles(settings).map((file) => vault.write(file.path, file.bytes)))
}
