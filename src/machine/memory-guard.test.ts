import { expect, it } from 'vitest'
import { MemoryGuard } from './memory-guard.ts'

const own = () => [process.pid]

it.runIf(process.platform === 'linux')(
  'reports nothing once it is disposed, even while it reads',
  async () => {
    let reports = 0
    const disposed: MemoryGuard = new MemoryGuard(
      () => {
        disposed[Symbol.dispose]()
        return own()
      },
      1,
      () => reports++,
    )
    // Starts to read after the first guard, so it ends after it.
    const { promise: exceeded, resolve } = Promise.withResolvers<void>()
    using _other = new MemoryGuard(own, 1, resolve)
    await exceeded
    expect(reports).toBe(0)
  },
)
