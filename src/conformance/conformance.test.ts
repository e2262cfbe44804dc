import { describe, expect, it } from 'vitest'
import { MemoryFs, MountTable, OverlayFs, ReadOnlyFs, type ReadOptions } from '../vfs/index.ts'
import { fileSystemSuite, type Seed, type TestContext } from './index.ts'

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

/** Yields the first chunk of a file again in place of the second one. */
class RepeatingFs extends MemoryFs {
  protected override async *doRead(path: string, options: ReadOptions): AsyncGenerator<Uint8Array> {
    const chunks = await Array.fromAsync(super.doRead(path, options))
    for (const [index, chunk] of chunks.entries()) yield index === 1 ? (chunks[0] ?? chunk) : chunk
  }
}

it('the suite detects a chunk that takes the place of another', async () => {
  const tests = new Map<string, (context: TestContext) => Promise<void>>()
  const collecting = {
    describe: (_name: string, body: () => void) => body(),
    it: (name: string, body: (context: TestContext) => Promise<void>) => tests.set(name, body),
  }
  fileSystemSuite(collecting, { name: 'RepeatingFs', create: (seed) => new RepeatingFs(seed) })
  await expect(tests.get('read gives the whole content')?.({})).rejects.toThrow(/large\.bin/)
})

function tableOf(seed: Seed): MountTable {
  return new MountTable({ '/': new MemoryFs(seed) })
}
