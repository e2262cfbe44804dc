import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, it } from 'vitest'
import { fileSystemSuite, type Seed } from '../../conformance/index.ts'
import type { RootConfinement } from '../../machine/index.ts'
import { MountTable, OverlayFs, ReadOnlyFs } from '../../vfs/index.ts'
import { HostFs } from './index.ts'

const scratch = mkdtempSync(join(tmpdir(), 'host-conformance-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

function hostFs(confinement: RootConfinement): HostFs {
  return new HostFs(mkdtempSync(join(scratch, 'root-')), { confinement })
}

const runner = { describe, it }

const REPLACED = 'a write replaces the file, so that a crash leaves the old one or the new'
const writesReplace = {
  'what is written under one name is there under all': REPLACED,
  'a write and a second name keep which file it is': REPLACED,
}
const copiesUp = {
  'a write and a second name keep which file it is': 'a file that is copied to upper is another file',
}

fileSystemSuite(runner, {
  name: 'HostFs by paths',
  create: () => hostFs('paths'),
  expectedFailures: writesReplace,
  runs: 5,
})

describe.skipIf(process.platform !== 'linux')('on Linux', () => {
  fileSystemSuite(runner, {
    name: 'HostFs by handles',
    create: () => hostFs('handles'),
    expectedFailures: writesReplace,
    runs: 20,
  })
  fileSystemSuite(runner, {
    name: 'HostFs with locks',
    create: () => new HostFs(mkdtempSync(join(scratch, 'root-')), { locks: join(scratch, 'locks') }),
    expectedFailures: writesReplace,
    runs: 5,
  })
  fileSystemSuite(runner, {
    name: 'a MountTable on HostFs',
    create: () => new MountTable({ '/': hostFs('handles') }),
    expectedFailures: writesReplace,
    runs: 5,
  })
  fileSystemSuite(runner, {
    name: 'OverlayFs(HostFs, memory)',
    create: async (seed) => new OverlayFs(await seeded(seed)),
    expectedFailures: copiesUp,
    runs: 5,
  })
  fileSystemSuite(runner, {
    name: 'a fork of an OverlayFs(HostFs, memory)',
    create: async (seed) => new OverlayFs(await seeded(seed)).fork(),
    expectedFailures: copiesUp,
    runs: 5,
  })
  fileSystemSuite(runner, {
    name: 'ReadOnlyFs(HostFs)',
    create: async (seed) => new ReadOnlyFs(await seeded(seed)),
  })
})

async function seeded(seed: Seed): Promise<HostFs> {
  const fs = hostFs('handles')
  for (const [path, content] of Object.entries(seed)) await fs.write(path, content)
  return fs
}
