import { expect, it } from 'vitest'
import { findOrigin } from '../devices/scanner/index.ts'
import type { StepRecord } from '../kernel/index.ts'
import { OriginTracker } from './origin-tracker.ts'

const page = 'Acme sells more anvils than every other vendor in the world'
const nothing: StepRecord = {
  step_number: 1,
  timestamp: '2026-01-02T03:04:05Z',
  messages: [],
  tokens_used: 0,
  raw_response: '',
  action: 'tool_call',
  summary: '',
  tool_path: '',
  tool_input: '',
  tool_result: '',
  tool_error: '',
}

function scene() {
  const kept: StepRecord[] = []
  const origins = new OriginTracker({ write: async (_uuid, record) => void kept.push(record) })
  const step = (uuid: string, fields: Partial<StepRecord>) => origins.write(uuid, { ...nothing, ...fields })
  const read = (uuid: string, text: string, from = '/dev/web/fetch') =>
    step(uuid, { tool_path: from, tool_result: text })
  const command = (uuid: string, input: string, answer: object) =>
    step(uuid, { tool_path: '/dev/shell', tool_input: input, tool_result: JSON.stringify(answer) })
  const from = (uuid: string, text = page) => findOrigin(text, origins.listOrigins(uuid))
  return { origins, kept, step, read, command, from }
}

it('passes every step on to the sink', async () => {
  const { kept, step, read } = scene()
  await step('a', {})
  await read('a', page)
  expect(kept).toHaveLength(2)
})

it('records the origin of responses and errors of web pages and servers, and none for local reads', async () => {
  const { step, read, from } = scene()
  await read('a', page)
  await step('b', { tool_path: '/mnt/mcp/2-docs/tools/find', tool_error: `EIO: the server refused: ${page}` })
  await read('c', page, '/dev/fs/notes.txt')
  expect(['a', 'b', 'c'].map((uuid) => from(uuid))).toEqual([
    '/dev/web/fetch',
    '/mnt/mcp/2-docs/tools/find',
    undefined,
  ])
})

it('shares the origins of a process with its family only', async () => {
  const { origins, read, from } = scene()
  origins.join('child', 'first')
  origins.join('grandchild', 'child')
  origins.join('sibling', 'first')
  origins.join('other child', 'other')
  await read('grandchild', page)
  const family = ['first', 'child', 'grandchild', 'sibling']
  expect(family.map((uuid) => from(uuid))).toEqual(family.map(() => '/dev/web/fetch'))
  expect(['other', 'other child'].map((uuid) => from(uuid))).toEqual([undefined, undefined])
})

it('gives the output of a command the origin of the text it was given, in any form', async () => {
  const { read, command, from } = scene()
  const hidden = 'The tall towers of the old harbour were built by nobody'
  await read('a', `${page}. Code: ${btoa(hidden)}`)
  const turned = [...page].reverse().join('')
  await command('a', `echo "${page}" | rev`, { output: turned })
  await command('a', JSON.stringify({ command: `base64 -d <<< ${btoa(hidden)}` }), { output: hidden })
  expect([from('a', turned), from('a', hidden)]).toEqual(['/dev/web/fetch', '/dev/web/fetch'])
})

it('gives the response of a device no origin, even if the request contains a foreign text', async () => {
  const { read, step, from } = scene()
  const answer = 'The task has been written down and waits for somebody to do it'
  await read('a', page)
  await step('a', { tool_path: '/dev/tasks', tool_input: page, tool_result: answer })
  expect(from('a', answer)).toBe(undefined)
})

it('gives the output of a command no origin, unless it reached the network', async () => {
  const { read, command, from } = scene()
  const [tests, release] = [
    'Nine of ten tests passed in five seconds and a half',
    'The next release is due in the second week of May',
  ]
  await read('a', `To see that all is well: npm test. ${page}`)
  await command('a', 'npm test', { output: tests })
  await command('a', 'gh release list', { output: release, origin: 'network' })
  expect([from('a', tests), from('a', release)]).toEqual([undefined, '/dev/shell'])
})

it('keeps only the latest texts of a family', async () => {
  const { read, from } = scene()
  await read('a', page)
  for (let number = 0; number < 49; number++) await read('a', `page ${number}`)
  expect(from('a')).toBe('/dev/web/fetch')
  await read('a', 'one more')
  expect(from('a')).toBe(undefined)
})
