// A device, a model and a tool of your own in the kernel of a home, without a fork of Coppice.
// Run: npx node examples/kernel-extensions.ts
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openHome } from 'coppice'
import { defineOperation } from 'coppice/devices/operation'
import { createJsonRequestFile, type Device, type ModelRequest, openKernel } from 'coppice/kernel'
import { z } from 'zod'

// A device answers requests: a write sends one, and reads return the response.
const tickets: Device = {
  match: 'exact',
  open: () =>
    createJsonRequestFile('/dev/tickets', async () => ({ open: ['T-1: the cart forgets its items'] })),
}

// A tool is an operation with a schema. Models see its description and its arguments.
const closeTicket = defineOperation({
  description: 'Close a ticket.',
  schema: z.strictObject({ id: z.string() }),
  run: async ({ id }) => ({ closed: id }),
})

// A model is a device below /dev/llm. This one reads the tickets, closes the first and says so.
const clerk: Device = {
  match: 'exact',
  open: () =>
    createJsonRequestFile('/dev/llm/clerk', async (body) => {
      const { messages } = body as ModelRequest
      if (messages.length === 1) return callTool('/dev/tickets', {})
      if (messages.length === 3) return callTool('close_ticket', { id: 'T-1' })
      return { content: `Done: ${messages.at(-1)?.content}`, tokens_used: 10 }
    }),
}

function callTool(name: string, input: object): object {
  return { content: '', tokens_used: 10, tool_calls: [{ id: name, name, input }] }
}

const directory = await mkdtemp(join(tmpdir(), 'coppice-extensions-'))
const home = await openHome({ path: directory })
const kernel = await openKernel({
  home,
  devices: { '/dev/tickets': tickets },
  providers: { clerk },
  tools: { close_ticket: closeTicket },
})

const { pid } = await kernel.spawn({ intent: 'close the first ticket', provider: 'clerk' })
const { result } = await kernel.wait(pid)
console.log(result)
assert.equal(result, 'Done: {"closed":"T-1"}')

await kernel.close()
await home.close()
await rm(directory, { recursive: true })
