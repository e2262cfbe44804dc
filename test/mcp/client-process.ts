/** A client in a process of its own, to be killed: it starts the program it is given, and prints the program's pid. */
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

const [command = '', ...args] = process.argv.slice(2)
const env = { ...process.env, PATH: process.env['PATH'] ?? '' }
const transport = new StdioClientTransport({ command, args, env })
const client = new Client({ name: 'doomed', version: '1' })
await client.connect(transport)
await client.callTool({
  name: 'write_file',
  arguments: { path: 'vfs:///workspace/written', content: 'before the end' },
})
process.stdout.write(`${transport.pid}\n`)
