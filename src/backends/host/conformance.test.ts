import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, it } from 'vitest'
import { fileSystemSuite } from '../../conformance/index.ts'
import { MountTable } from '../../vfs/index.ts'
import type { Confinement } from './directory.ts'
import { HostFs } from './index.ts'

const scratch = mkdtempSync(join(tmpdir(), 'host-conformance-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

function hostFs(confinement: Confinement): HostFs {
  return new HostFs(mkdtempSync(join(scratch, 'root-')), { confinement })
}

const runner = { describe, it }

fileSystemSuite(runner, {
  name: 'HostFs by paths',
  create: () => hostFs('paths'),
  runs: 5,
})

describe.skipIf(process.platform !== 'linux')('on Linux', () => {
  fileSystemSuite(runner, {
    name: 'HostFs by handles',
    create: () => hostFs('handles'),
    runs: 20,
  })
  fileSystemSuite(runner, {
    name: 'a MountTable on HostFs',
    create: () => new MountTable({ '/': hostFs('handles') }),
    runs: 5,
  })
})
