import { expect, it } from 'vitest'
import { type Device, O_RDWR, readAllText } from '../../kernel/index.ts'
import { MemoryFs } from '../../vfs/index.ts'
import { nullDevice, randomDevice } from './index.ts'

const ctx = {
  pid: 1,
  caller: { kind: 'system' },
  fs: new MemoryFs(),
  signal: new AbortController().signal,
} as const
const open = async (device: Device) => device.open('', O_RDWR, ctx)

it('/dev/null accepts all writes and reads as empty', async () => {
  const file = await open(nullDevice())
  await file.write(new Uint8Array(10))
  expect(await readAllText(file)).toBe('')
})

it('/dev/random returns new bytes each time, as many as requested, up to a limit', async () => {
  const device = randomDevice()
  const [one, other] = await Promise.all([open(device), open(device)])
  await one.write(new Uint8Array(10))
  const bytes = await one.read(32)
  expect(bytes).toHaveLength(32)
  expect(await other.read(32)).not.toEqual(bytes)
  expect(await one.read(1 << 20)).toHaveLength(64 * 1024 - 32)
  expect(await one.read(1)).toHaveLength(0)
})
