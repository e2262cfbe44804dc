import { expect, it } from 'vitest'
import { formatTable } from './table.ts'

it('aligns columns by their width on a terminal', () => {
  const rows = [
    ['plain', '1'],
    ['漢字', '2'],
    ['👩‍👩‍👧', '3'],
    ['❤️ué', '4'],
    ['ｗｉｄｅ', '5'],
    ['', '6'],
  ]
  expect(formatTable(rows)).toEqual([
    'plain     1',
    '漢字      2',
    '👩‍👩‍👧        3',
    '❤️ué      4',
    'ｗｉｄｅ  5',
    '          6',
  ])
})
