import { expect, it } from 'vitest'
import { diffTrees } from './diff-trees.ts'
import { type Branch, createEmptyLeaf } from './tree-node.ts'

const LEAVES = 200_000

it('has no limit to the nodes that differ', () => {
  const groups = Array.from({ length: LEAVES }, (_, index) => index)
  const subs = groups.map(() => 0)
  const children = groups.map((group) => ({
    ...createEmptyLeaf<string>(null),
    groups: [group],
    subs: [0],
    values: ['x'],
  }))
  const after: Branch<string> = { id: 0, edit: null, level: 1, groups, subs, children }
  const source = {
    load: () => {
      throw new Error('every node is in memory')
    },
  }
  const changes = diffTrees(source, createEmptyLeaf<string>(null), after, Object.is)
  expect(changes.length).toBe(LEAVES)
})
