import pg from 'pg'
import { SMALL_BYTES } from './sizes.ts'

/** A machine that inserts as many rows into its own table as each message asks for. */
const [host = '', table = ''] = process.argv.slice(2)
const client = new pg.Client({ host, user: 'coppice', database: 'postgres' })
await client.connect()
await client.query(`create table ${table} (id bigint primary key, bytes bytea)`)
const bytes = Buffer.alloc(SMALL_BYTES, 'x')
let id = 0
process.on('message', (commits: number) => void insert(commits))
process.send?.('ready')

async function insert(commits: number): Promise<void> {
  for (let number = 0; number < commits; number++)
    await client.query({
      name: 'insert',
      text: `insert into ${table} values ($1, $2)`,
      values: [++id, bytes],
    })
  process.send?.('done')
}
