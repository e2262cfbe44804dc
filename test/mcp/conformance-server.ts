/**
 * What the official conformance suite wants a server to have, on our server core. Prints where it listens, and ends
 * with its standard input.
 */
import { once } from 'node:events'
import {
  createCompletionsFeature,
  createResourcesFeature,
  createToolsFeature,
  McpSession,
  serveHttp,
} from '../../src/mcp/index.ts'
import { fixturePrompts } from './fixture-prompts.ts'
import { fixtureResources } from './fixture-resources.ts'
import { fixtureTools } from './fixture-tools.ts'

const open = () =>
  new McpSession({
    info: { name: 'coppice-conformance', version: '1.0.0' },
    parts: [
      createToolsFeature(() => fixtureTools),
      createResourcesFeature(fixtureResources),
      createCompletionsFeature(async () => ['paris', 'park', 'party']),
      fixturePrompts,
    ],
  })

// The suite has no way to send a token.
const server = await serveHttp(open, { port: 0, token: null })
process.stdout.write(`${server.url}\n`)
await once(process.stdin.resume(), 'end')
await server.close()
