import type { VNode } from 'preact'
import { waitingCount } from '../../client/home-state.ts'
import { ProcessList } from './process-list.tsx'
import { TreeList } from './tree-list.tsx'
import { WaitingList } from './waiting-list.tsx'

/** The first screen: what waits for a person, the processes, and the forks of directories and vaults. */
export function HomeScreen(): VNode {
  return (
    <div class="page">
      <h1 class="hidden-label">Home</h1>
      {waitingCount.value > 0 && <WaitingList />}
      <div class="home-columns">
        <ProcessList />
        <TreeList />
      </div>
    </div>
  )
}
