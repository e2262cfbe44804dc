import { mkdirSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { openHome } from '../../../src/backends/vault/index.ts'
import { mountVault } from '../../../src/fuse/index.ts'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { measurePrograms } from '../programs.ts'

export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const scratch = mkdtempSync(join(settings.directory, 'coppice-'))
  const [path, directory] = [join(scratch, 'home'), join(scratch, 'mount')]
  mkdirSync(directory)
  const home = await openHome({ path })
  await home.createVault('v')
  await home.close()
  await using mount = await mountVault({ home: { path }, vault: 'v', directory })
  await measurePrograms(mount.directory, recorder, settings)
}
