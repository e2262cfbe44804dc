import type { AgentKernel } from '../agent-kernel/index.ts'
import type { Home } from '../backends/vault/index.ts'
import { Boundary } from '../boundary/index.ts'
import { CleanupStack } from '../machine/index.ts'
import type { CommandSettings } from '../namespace/index.ts'
import { VfsError } from '../vfs/index.ts'
import type { WebMethodName } from '../web-api/index.ts'
import type { MethodTable } from './define-method.ts'
import { HomeWatcher } from './home-watcher.ts'
import { createApprovalMethods } from './methods/approval-methods.ts'
import { createCompareMethods } from './methods/compare-methods.ts'
import { createFileMethods } from './methods/file-methods.ts'
import { createHistoryMethods } from './methods/history-methods.ts'
import { createHomeMethods } from './methods/home-methods.ts'
import { createMergeMethods } from './methods/merge-methods.ts'
import { createProcessMethods } from './methods/process-methods.ts'
import { createRestoreMethods } from './methods/restore-methods.ts'
import { createTimelineMethods } from './methods/timeline-methods.ts'
import { followProcesses } from './process-events.ts'
import { EventLog, type HandledMethod, readPageFiles, serveWeb, type WebServer } from './transport/index.ts'
import { TreeComparisons } from './trees/compare-trees.ts'
import { HomeTrees } from './trees/home-trees.ts'
import { Trials } from './trials.ts'
import type { WebContext } from './web-context.ts'

export interface WebUiOptions {
  readonly home: Home
  readonly agents: AgentKernel
  readonly version: string
  /** Port on the loopback; 0 for any free one. */
  readonly port: number
  /** Directory with the files of the page. */
  readonly page: string
  /** Settings for the commands of trials. */
  readonly commands: CommandSettings
}

/** Serves the page of a home: its processes, forks, files and approvals. Rejects if the port is not available. */
export async function openWebUi(options: WebUiOptions): Promise<WebServer> {
  const { port, page, commands } = options
  await using cleanup = new CleanupStack()
  const web = createContext(options)
  cleanup.use(web.trees)
  const trials = cleanup.use(new Trials(web, commands))
  await trials.sweep()
  let server: WebServer | undefined
  const watcher = cleanup.use(new HomeWatcher(web, () => (server?.streams ?? 0) > 0))
  await watcher.start()
  const stop = new AbortController()
  cleanup.defer(() => stop.abort())
  // It ends with the signal; a failure of one event is not one of the server.
  void followProcesses(web, stop.signal).catch(() => {})
  server = await serveWeb({
    port,
    page: readPageFiles(page),
    methods: createWebMethods(web, trials, watcher),
    events: web.events,
    toJson: (value) => web.redactor.toJson(value),
  })
  cleanup.use(server)
  return withCleanup(server, cleanup.move())
}

function withCleanup(server: WebServer, cleanup: CleanupStack): WebServer {
  const close = () => cleanup.close()
  return {
    port: server.port,
    origin: server.origin,
    get streams() {
      return server.streams
    },
    createLink: (path) => server.createLink(path),
    close,
    [Symbol.asyncDispose]: close,
  }
}

function createContext({ home, agents, version }: WebUiOptions): WebContext {
  const { path } = home
  if (path === undefined)
    throw new VfsError('EINVAL', '/', { op: 'ui', detail: 'a home in memory has no page' })
  const trees = new HomeTrees(home)
  return {
    home,
    path,
    version,
    agents,
    trees,
    startedAt: new Date(),
    redactor: agents.redactor,
    events: new EventLog(),
    comparisons: new TreeComparisons(trees),
    caller: agents.asPerson.caller,
    // Opened anew: the policy of the home may have changed.
    openBoundary: () => Boundary.open(home, agents.redactor),
  }
}

/** Returns all methods by name. A change is noticed at once, not at the next look of the watcher. */
function createWebMethods(
  web: WebContext,
  trials: Trials,
  watcher: HomeWatcher,
): ReadonlyMap<string, HandledMethod> {
  const all: MethodTable<WebMethodName> = {
    ...createHomeMethods(web),
    ...createProcessMethods(web),
    ...createFileMethods(web),
    ...createHistoryMethods(web),
    ...createRestoreMethods(web),
    ...createCompareMethods(web),
    ...createMergeMethods(web),
    ...createApprovalMethods(web, trials),
    ...createTimelineMethods(web),
  }
  const withLook = (method: HandledMethod): HandledMethod => ({
    ...method,
    run: async (params, signal) => {
      const result = await method.run(params, signal)
      if (method.verb === 'GET') return result
      web.comparisons.clear()
      // The change is made, whatever the look finds.
      await watcher.look().catch(() => {})
      return result
    },
  })
  return new Map(Object.entries(all).map(([name, method]) => [name, withLook(method)]))
}
