import type { AgentKernel } from '../agent-kernel/index.ts'
import type { Home } from '../backends/vault/index.ts'
import type { Boundary } from '../boundary/index.ts'
import type { Redactor } from '../secrets/index.ts'
import type { Caller } from '../vfs/index.ts'
import type { EventLog } from './transport/index.ts'
import type { TreeComparisons } from './trees/compare-trees.ts'
import type { HomeTrees } from './trees/home-trees.ts'

/** Everything that the methods use. */
export interface WebContext {
  readonly home: Home
  /** Directory of the home. */
  readonly path: string
  readonly version: string
  readonly startedAt: Date
  readonly agents: AgentKernel
  readonly redactor: Redactor
  readonly events: EventLog
  readonly trees: HomeTrees
  readonly comparisons: TreeComparisons
  /** The person at the page, as the author of changes. */
  readonly caller: Caller
  openBoundary(): Promise<Boundary>
}
