import assert from 'node:assert/strict'
import { describe, expect, it } from 'vitest'
import * as coppice from '../src/public/index.ts'
import { readPublicApi } from './support/public-api.ts'
import { root } from './support/run-node.ts'

/** Names that need no example: each is used in that of another, or says it in its name. */
const WITHOUT = ['du', 'list', 'readFile', 'writeFile']

describe('the examples in the documentation of `coppice`', () => {
  const names = readPublicApi(root)
    .filter(({ subpath }) => subpath === 'coppice')
    .flatMap((entry) => entry.names.filter(({ kind }) => kind !== 'type'))
  const examples = names.flatMap(({ name, doc }) => {
    const code = /@example\n```ts\n(.*?)\n```/s.exec(doc)?.[1]
    return code === undefined ? [] : [{ name, code }]
  })

  it('cover every class and function', () => {
    const shown = new Set(examples.map(({ name }) => name))
    expect(names.map(({ name }) => name).filter((name) => !shown.has(name))).toEqual(WITHOUT)
  })

  it.each(examples)('run: $name', async ({ code }) => {
    const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor
    const run = new AsyncFunction('assert', ...Object.keys(coppice), code)
    await run(assert, ...Object.values(coppice))
  })
})
