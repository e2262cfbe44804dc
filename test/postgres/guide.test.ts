import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { openHome } from '../../src/backends/vault/index.ts'
import { hasPostgres, PostgresServer } from '../support/postgres-server.ts'
import { root } from '../support/run-node.ts'

const guide = readFileSync(join(root, 'docs/guide/shared-homes.md'), 'utf8')

describe.runIf(hasPostgres)('the guide to shared homes', () => {
  it('has queries to monitor a home that run as they are, and show who has leased a vault', async () => {
    const [, sql = ''] = /^## Monitor\n.*?^```sql\n(.*?)^```/ms.exec(guide) ?? []
    await using server = await PostgresServer.start()
    await using home = await openHome({ url: server.url('coppice'), path: join(server.directory, 'machine') })
    await home.createVault('base')
    await using _lease = await home.lease('base')
    const client = new pg.Client({ host: server.directory, user: 'coppice', database: 'postgres' })
    await client.connect()
    try {
      const answers = []
      for (const query of sql.split(';\n').filter((each) => each.trim() !== ''))
        answers.push(await client.query(query))
      expect(answers.length).toBe(5)
      const leases = JSON.stringify(answers.map(({ rows }) => rows))
      expect(leases).toContain('holder')
    } finally {
      await client.end()
    }
  })
})
