import { expect, it } from 'vitest'
import { listGainedBits } from './special-bits.ts'

const file = (mode: number) => ({ type: 'file', size: 0, mtime: new Date(0), mode }) as const

it('names setuid and setgid of a file that had them not before', () => {
  const change = { path: '/f', kind: 'modified' } as const
  const gained = (before: number, after: number) =>
    listGainedBits({ ...change, before: file(before), after: file(after) })
  expect(gained(0o755, 0o6755)).toEqual(['setuid', 'setgid'])
  expect(gained(0o4755, 0o6755)).toEqual(['setgid'])
  expect(gained(0o4755, 0o4711)).toEqual([])
  const directory = { ...file(0o2755), type: 'directory' } as const
  expect(listGainedBits({ ...change, after: directory })).toEqual([])
})
