import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { call, openScene, type Scene } from '../support/agent-home.ts'

const fact = 'Acme sells more anvils than every other vendor in the world'
const hidden = 'The tall towers of the old harbour were built by nobody but them'
/** Lines of a page are short, and break anywhere. */
const page = `Welcome!\n${fact.replaceAll(' ', '\n')}\nCode: ${btoa(hidden)}`

/** Creates a home where every search finds the page. */
async function sceneWithPage(): Promise<Scene> {
  const scene = await openScene()
  const server = createServer((_asked, answer) => {
    answer.end(JSON.stringify({ results: [{ title: 'T', url: 'https://acme.example', content: page }] }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/search`
  writeFileSync(join(scene.directory, 'config.toml'), `[web]\nsearch_url = "${url}"\n`)
  return scene
}

const search = call('web_search', { query: 'anvils' })
const add = (content: string) => call('memory_commit', { action: 'add', content, target: 'global_memory' })

/** Runs processes with these scripts, by intent; the first is spawned, the others by one of them. */
async function play({ agents }: Scene, plays: Record<string, readonly unknown[]>): Promise<void> {
  const script = Object.entries(plays).flatMap(([intent, sayings]) =>
    sayings.map((say) => ({ expect: { intent }, say })),
  )
  const [intent = ''] = Object.keys(plays)
  const text = `shared: true\nscript: ${JSON.stringify(script)}\n`
  const { pid } = await agents.spawn({ intent, vault: 'base', script: { name: 'a.yaml', text } })
  expect(await agents.wait(pid)).toMatchObject({ exit_code: 0 })
}

/** Returns the memory with its origins. */
function remembered({ agents }: Scene): Promise<unknown> {
  const asked = { action: 'snapshot', target: 'global_memory' }
  return agents.call('/dev/memory/commit', asked, new AbortController().signal)
}

it('a process and its child share the origins of what they read', async () => {
  const scene = await sceneWithPage()
  await play(scene, {
    lead: [search, { action: 'spawn', intent: 'help' }, 'over'],
    help: [add(fact), 'done'],
  })
  await play(scene, {
    ask: [{ action: 'spawn', intent: 'look' }, add(`It is said that ${fact}`), 'over'],
    look: [search, fact],
  })
  // Another process says the same by itself.
  await play(scene, { alone: [add(`As we know: ${fact}`), 'over'] })
  expect(await remembered(scene)).toEqual(
    expect.objectContaining({
      snapshot: [
        { text: fact, origin: '/dev/web/web_search' },
        { text: `It is said that ${fact}`, origin: '/dev/web/web_search' },
        { text: `As we know: ${fact}` },
      ],
    }),
  )
})

it('the output of a command has the origin of its input, or of the network', async () => {
  const scene = await sceneWithPage()
  const { agents } = scene
  const detach = agents.tty.attach({ onAsked: ({ id }) => agents.tty.answer(id, ['yes, once']) })
  onTestFinished(detach)
  const notes = 'One of two and three of four and five of six are written here'
  const write = call('/dev/fs/notes.txt', { content: notes })
  await play(scene, {
    read: [search, call('/dev/shell', `echo ${btoa(hidden)} | base64 -d`), add(hidden), 'over'],
  })
  await play(scene, { own: [write, call('/dev/shell', 'cat notes.txt'), add(notes), 'over'] })
  // Policy sees that a command could reach the network, whether it does or not.
  const sly = call('/dev/shell', 'cat notes.txt; false && curl https://x.example')
  await play(scene, { sly: [write, sly, add(`Some say: ${notes}`), 'over'] })
  const fetched = call('/dev/shell', { command: 'cat notes.txt', network: true })
  await play(scene, { fetch: [write, fetched, add(`They say: ${notes}`), 'over'] })
  expect(await remembered(scene)).toEqual(
    expect.objectContaining({
      snapshot: [
        { text: hidden, origin: '/dev/web/web_search' },
        { text: notes },
        { text: `Some say: ${notes}`, origin: '/dev/shell' },
        { text: `They say: ${notes}`, origin: '/dev/shell' },
      ],
    }),
  )
})
