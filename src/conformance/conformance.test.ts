import { describe, it } from 'vitest'
import { MemoryFs, MountTable, OverlayFs, ReadOnlyFs } from '../vfs/index.ts'
import { fileSystemSuite, type Seed } from './index.ts'

const runner = { describe, it }

const copiesUp = {
  'a write and a second name keep which file it is': 'a file that is copied to upper is another file',
}

fileSystemSuite(runner, { name: 'MemoryFs', create: (seed) => new MemoryFs(seed) })
fileSystemSuite(runner, { name: 'a fork of a MemoryFs', create: (seed) => new MemoryFs(seed).fork() })

fileSystemSuite(runner, { name: 'ReadOnlyFs', create: (seed) => new ReadOnlyFs(new MemoryFs(seed)) })

fileSystemSuite(runner, {
  name: 'a fork of a ReadOnlyFs',
  create: (seed) => new ReadOnlyFs(new MemoryFs(seed)).fork(),
})

fileSystemSuite(runner, { name: 'MountTable', create: tableOf })
fileSystemSuite(runner, { name: 'a fork of a MountTable', create: (seed) => tableOf(seed).fork() })
fileSystemSuite(runner, {
  name: 'a nested MountTable',
  create: (seed) => new MountTable({ '/': new MountTable({ '/': tableOf(seed) }) }),
})
fileSystemSuite(runner, {
  name: 'a fork of a nested MountTable',
  create: (seed) => new MountTable({ '/': new MountTable({ '/': tableOf(seed) }) }).fork(),
})

fileSystemSuite(runner, {
  name: 'OverlayFs(memory, memory)',
  create: (seed) => new OverlayFs(new MemoryFs(seed)),
  expectedFailures: copiesUp,
})
fileSystemSuite(runner, {
  name: 'OverlayFs with everything in upper',
  create: (seed) => new OverlayFs(new MemoryFs(), new MemoryFs(seed)),
})
fileSystemSuite(runner, {
  name: 'a fork of an OverlayFs',
  create: (seed) => new OverlayFs(new MemoryFs(seed)).fork(),
  expectedFailures: copiesUp,
})

function tableOf(seed: Seed): MountTable {
  return new MountTable({ '/': new MemoryFs(seed) })
}
