import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, it } from 'vitest'
import { PostgresConnection } from './postgres-connection.ts'
import { parsePostgresUrl } from './postgres-url.ts'

it('repeats no statement that it could not send', async () => {
  let attempts = 0
  const server = createServer((socket) => {
    attempts++
    socket.destroy()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const connection = await PostgresConnection.create(
    parsePostgresUrl(`postgres://ann@127.0.0.1:${port}/work`),
  )
  await expect(connection.read({ text: 'select 1' })).rejects.toMatchObject({ code: 'EUNAVAILABLE' })
  expect(attempts).toBe(1)
  await connection.close()
  server.close()
})
