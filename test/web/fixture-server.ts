import { join } from 'node:path'
import { VfsError } from '../../src/vfs/index.ts'
import { type WebEvent, type WebMethodName, type WebMethods, webMethods } from '../../src/web-api/index.ts'
import {
  EventLog,
  type HandledMethod,
  readPageFiles,
  serveWeb,
  type WebServer,
} from '../../src/web-server/transport/index.ts'
import { root } from '../support/run-node.ts'

/** Answers of some methods. Parameters of a GET are texts, as they are on the wire. */
export type FixtureMethods = {
  [Name in WebMethodName]?: (
    params: { readonly [Key in keyof WebMethods[Name]['params']]: WebMethods[Name]['params'][Key] },
  ) => WebMethods[Name]['result'] | Promise<WebMethods[Name]['result']>
}

/** The real transport with answers of a test in place of a home. */
export interface FixtureServer extends AsyncDisposable {
  readonly server: WebServer
  /** Calls that arrived, in order. */
  readonly calls: { readonly name: string; readonly params: unknown }[]
  publish(event: WebEvent): void
  /** Changes answers; the others stay. */
  answer(methods: FixtureMethods): void
}

/** Serves the built page with answers of a test. */
export async function serveFixture(methods: FixtureMethods, port = 0): Promise<FixtureServer> {
  const events = new EventLog()
  const calls: { name: string; params: unknown }[] = []
  const answers = new Map<string, (params: never) => unknown>()
  const answer = (more: FixtureMethods) => {
    for (const [name, run] of Object.entries(more)) answers.set(name, run)
  }
  answer({ ...emptyHome(events), ...methods })
  const handled = new Map<string, HandledMethod>(
    Object.entries(webMethods).map(([name, verb]) => [
      name,
      {
        verb,
        run: async (params) => {
          calls.push({ name, params })
          const run = answers.get(name)
          if (run === undefined) throw new VfsError('ENOENT', '/', { op: name, detail: 'nothing is here' })
          return Reflect.apply(run, undefined, [params])
        },
      },
    ]),
  )
  const server = await serveWeb({
    port,
    page: readPageFiles(join(root, 'dist/web')),
    methods: handled,
    events,
    toJson: (value) => JSON.stringify(value),
  })
  return {
    server,
    calls,
    publish: (event) => events.add(event),
    answer,
    [Symbol.asyncDispose]: () => server.close(),
  }
}

function emptyHome(events: EventLog): FixtureMethods {
  const empty = () => ({ items: [], next: null })
  return {
    getStatus: () => ({
      home: '/home/me/.coppice',
      version: '0.1.0',
      startedAt: '2026-11-17T09:00:00.000Z',
      running: 0,
      position: events.position,
    }),
    listProcesses: empty,
    listTrees: empty,
    listWaiting: () => ({ approvals: [], questions: [], merges: [] }),
    listApprovals: empty,
    listGrants: empty,
    listCommands: empty,
    listOverlap: empty,
    listSteps: empty,
    listStepFiles: () => ({ items: [], next: null, from: null, to: null }),
    getJournalBuckets: () => ({ first: 0, last: 0, buckets: [], checkpoints: [] }),
  }
}
