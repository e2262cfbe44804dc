import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createPipe } from '../../src/kernel/ipc/index.ts'
import { scene, until } from '../support/scripted-kernel.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (data: Uint8Array) => new TextDecoder().decode(data)

async function pair() {
  const { kernel } = scene((_request, signal) => until(signal))
  const [a, b] = [await kernel.processes.spawn('a'), await kernel.processes.spawn('b')]
  return { kernel, a, b }
}

describe('messages', () => {
  it('arrive in sending order, as copies', async () => {
    const { kernel, a, b } = await pair()
    const data = bytes('one')
    kernel.ipc.send(a, b, data)
    data.fill(0)
    kernel.ipc.send(0, b, bytes('two'))
    const [first, second] = [await kernel.ipc.recv(b), await kernel.ipc.recv(b)]
    expect([text(first.data), text(second.data)]).toEqual(['one', 'two'])
    expect([first.from, second.from]).toEqual([a, 0])
    expect(second.seq).toBeGreaterThan(first.seq)
  })

  it('are awaited until an abort or the end of the process', async () => {
    const { kernel, a, b } = await pair()
    const waiting = kernel.ipc.recv(b)
    kernel.ipc.send(a, b, bytes('late'))
    expect(text((await waiting).data)).toBe('late')
    const cancel = new AbortController()
    const cancelled = kernel.ipc.recv(b, cancel.signal)
    cancel.abort(new Error('enough'))
    await expect(cancelled).rejects.toThrow('enough')
    const orphaned = kernel.ipc.recv(b)
    kernel.processes.kill(b, 'SIGKILL')
    await expect(orphaned).rejects.toThrow('SIGKILL')
    await kernel.table.get(b).done
    expect(() => kernel.ipc.send(a, b, bytes('x'))).toThrow('ENOENT')
  })
})

describe('a pipe', () => {
  it('connects two processes, and ends with its writer', async () => {
    const { kernel, a, b } = await pair()
    const { writeFd, readFd } = await kernel.ipc.pipe(a, b)
    expect([writeFd, readFd]).toEqual([4, 4])
    await kernel.files.write(a, writeFd, bytes('hello'))
    expect(text(await kernel.files.read(b, readFd, 3))).toBe('hel')
    expect(text(await kernel.files.read(b, readFd, 99))).toBe('lo')
    await expect(kernel.files.read(a, writeFd, 1)).rejects.toMatchObject({ code: 'EINVAL' })
    await expect(kernel.files.write(b, readFd, bytes('x'))).rejects.toMatchObject({ code: 'EINVAL' })
    const waiting = kernel.files.read(b, readFd, 1)
    kernel.processes.kill(a, 'SIGKILL')
    expect(await waiting).toHaveLength(0)
  })

  it('blocks its writer when full, and breaks without a reader', async () => {
    const { kernel, a, b } = await pair()
    const { writeFd, readFd } = await kernel.ipc.pipe(a, b)
    const order: string[] = []
    const writing = kernel.files.write(a, writeFd, new Uint8Array(65_537)).then(() => order.push('written'))
    await new Promise((resolve) => setImmediate(resolve))
    order.push('reading')
    await kernel.files.read(b, readFd, 1)
    await writing
    expect(order).toEqual(['reading', 'written'])
    const stuck = kernel.files.write(a, writeFd, new Uint8Array(65_536))
    await kernel.files.close(b, readFd)
    await expect(stuck).rejects.toMatchObject({ code: 'EPIPE' })
  })

  it('transfers all bytes in order, in any pieces', async () => {
    const cuts = fc.array(fc.uint8Array({ minLength: 1, maxLength: 70_000, size: 'max' }), { maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(cuts, fc.integer({ min: 1, max: 80_000 }), async (chunks, length) => {
        const { writer, reader } = createPipe('pipe', new AbortController().signal)
        const write = async () => {
          for (const chunk of chunks) await writer.write(chunk)
          await writer.close()
        }
        const written = write()
        const got: Uint8Array[] = []
        for (;;) {
          const part = await reader.read(length)
          if (part.length === 0) break
          got.push(part)
        }
        await written
        expect(Buffer.concat(got).equals(Buffer.concat(chunks))).toBe(true)
      }),
      { numRuns: 30 },
    )
  })
})
