// Two machines on one home, as docs/guide/shared-homes.md explains it. A database on this machine stands in for the team's.
// Run: npx node examples/shared-homes.ts
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openHome, readText } from 'coppice'
import { PostgresServer } from '../test/support/postgres-server.ts'

await using server = await PostgresServer.start()
const url = server.url('team')
const scratch = await mkdtemp(join(tmpdir(), 'coppice-example-'))
const openMachine = (name: string) =>
  openHome({
    url,
    path: join(scratch, name),
    cacheDirectory: join(scratch, `${name}-cache`),
    freshness: 'strict',
  })

{
  await using home = await openMachine('ann')
  const base = await home.createVault('base')
  await base.write('/plan.md', 'one\n')

  // Another machine works on a fork, and merges it.
  await using bob = await openMachine('bob')
  const task = await bob.fork('base', 'task')
  await task.write('/done.md', 'done\n')
  await bob.merge('task', 'base')
  console.log(await readText(base, '/done.md'))

  // A machine that takes a vault works at the speed of its own disk.
  {
    await using lease = await home.lease('task') // home: openHome({ url, path })
    lease.vault.sync.mkdir('/notes') // every face of a local vault
    await lease.flush() // in the database now
  }
  assert.ok(await task.exists('/notes'))
}
await rm(scratch, { recursive: true })
