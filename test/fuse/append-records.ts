/** Appends records to a file once a line of input comes. */
import { once } from 'node:events'
import { appendFileSync, openSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { type EngineName, openHome } from '../../src/backends/vault/index.ts'
import { recordOf } from './append-record.ts'

export interface AppendOrder {
  readonly writer: string
  readonly records: number
  /** How: a descriptor of a mounted file, that file opened for each record, or a vault's own two ways. */
  readonly way: 'descriptor' | 'reopened' | 'append' | 'handle'
  /** The file, in a mount or in the vault `v`. */
  readonly file: string
  readonly home: { readonly path: string; readonly engine: EngineName }
}

const order: AppendOrder = JSON.parse(process.argv[2] ?? '')
const append = await appender(order)
process.stdout.write('ready\n')
await once(createInterface({ input: process.stdin }), 'line')
for (let index = 0; index < order.records; index++) {
  await append(Buffer.from(recordOf(order.writer, index)))
}
process.exit()

async function appender({ way, file, home: place }: AppendOrder): Promise<(record: Buffer) => unknown> {
  if (way === 'reopened') return (record) => appendFileSync(file, record)
  if (way === 'descriptor') {
    const fd = openSync(file, 'a')
    return (record) => writeSync(fd, record)
  }
  const vault = await (await openHome(place)).vault('v')
  if (way === 'append') return (record) => vault.append(file, record)
  const handle = vault.sync.open(file, { write: true, append: true })
  return (record) => handle.write(0, record)
}
