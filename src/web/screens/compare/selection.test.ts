import { describe, expect, it } from 'vitest'
import type { WebChange } from '../../../web-api/index.ts'
import {
  type Decisions,
  decideAll,
  describeDecision,
  listLeftOut,
  toggleFile,
  toggleHunk,
  toMergeSelection,
} from './selection.ts'

const changes = ['/a', '/b', '/c'].map(
  (path): WebChange => ({
    path,
    kind: 'modified',
    type: 'file',
    modes: '',
    oldSize: 1,
    newSize: 1,
    lines: null,
    isBinary: null,
  }),
)
const nothing: Decisions = new Map()
const version = { digest: 'd1', total: 3 }

describe('the selection of a merge', () => {
  it('takes everything where nothing is left out', () => {
    expect(toMergeSelection(changes, nothing)).toBe('all')
  })

  it('names the kept hunks with the version they are from', () => {
    const decisions = toggleHunk(nothing, '/b', 1, version)
    expect(toMergeSelection(changes, decisions)).toEqual([
      { path: '/a' },
      { path: '/b', hunks: [0, 2], digest: 'd1' },
      { path: '/c' },
    ])
  })

  it('has no file of which nothing is kept', () => {
    const all = [0, 1, 2].reduce(
      (decisions, hunk) => toggleHunk(decisions, '/b', hunk, version),
      toggleFile(nothing, '/a'),
    )
    expect(describeDecision(all.get('/b'))).toBe('none')
    expect(toMergeSelection(changes, all)).toEqual([{ path: '/c' }])
    expect(toMergeSelection(changes, decideAll(changes, false))).toEqual([])
  })

  it('keeps one hunk of a file that was left out', () => {
    const decisions = toggleHunk(toggleFile(nothing, '/a'), '/a', 2, version)
    expect([...listLeftOut(decisions, '/a', version)]).toEqual([0, 1])
  })

  it('forgets a decision about hunks of another version', () => {
    const decisions = toggleHunk(nothing, '/a', 0, version)
    expect(listLeftOut(decisions, '/a', { digest: 'd2', total: 5 }).size).toBe(0)
  })

  it('keeps a file again that was kept in part', () => {
    const partly = toggleHunk(nothing, '/a', 0, version)
    expect(toMergeSelection(changes, toggleFile(partly, '/a'))).toBe('all')
  })
})
