import { expect, it } from 'vitest'
import type { DeviceFile } from '../kernel/index.ts'
import { OpenDevices } from './open-devices.ts'

const file: DeviceFile = {
  read: async () => new Uint8Array(0),
  write: async () => {},
  close: async () => {},
  stat: async () => ({ size: 0, modified: new Date(0) }),
}

it('limits the devices of a client, also if it opens them at once', async () => {
  const opening = Promise.withResolvers<DeviceFile>()
  const devices = new OpenDevices(() => opening.promise)
  const client = new AbortController().signal
  const opens = Array.from({ length: 1001 }, () => devices.open('/dev/random', 0, client))
  opening.resolve(file)
  await expect(opens.at(-1)).rejects.toMatchObject({ code: 'EUNAVAILABLE' })
  const [first = 0] = await Promise.all(opens.slice(0, -1))
  await devices.close(first, client)
  const last = await devices.open('/dev/random', 0, client)
  await expect(devices.open('/dev/random', 0, client)).rejects.toMatchObject({ code: 'EUNAVAILABLE' })
  await expect(devices.close(last, new AbortController().signal)).rejects.toMatchObject({ code: 'EBADF' })
  await devices.open('/dev/random', 0, new AbortController().signal)
})

it('counts no device that could not be opened', async () => {
  const devices = new OpenDevices(() => Promise.reject(new Error('no such device')))
  const client = new AbortController().signal
  for (let index = 0; index <= 1000; index++)
    await expect(devices.open('/dev/none', 0, client)).rejects.toThrow('no such device')
})
