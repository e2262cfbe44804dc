import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ConfigFile, mountBackends } from '../src/config/index.ts'
import { root } from './support/run-node.ts'

const REFERENCE = 'docs/guide/configuration.md'

/** Returns the TOML blocks of a page. */
function blocksOf(page: string): string[] {
  const text = readFileSync(join(root, page), 'utf8')
  return [...text.matchAll(/^```toml\n(.*?)^```/gms)].map(([, block = '']) => block)
}

/** Every table of the configuration: the heading of its section in the reference, and its TOML. */
const tables = [
  ['## Every command', ''],
  ...['vfs', 'tools', 'host', 'web', 'secrets', 'undo', 'processes'].map((name) => [
    `## \`[${name}]\``,
    `[${name}]\n`,
  ]),
  ...mountBackends.map((backend) => ['## `[mounts."/path"]`', mountTable(backend)]),
] as const

/** The keys a table may have, from the message about one it may not have. */
async function listKnownKeys(table: string): Promise<string[]> {
  const refusal = await ConfigFile.parse('config.toml', `${table}unknown = 1\n`).catch(String)
  const [, known = ''] = String(refusal).match(/no setting '[^;]*unknown'; known: (.*)/) ?? []
  expect(known).not.toBe('')
  return known.split(', ')
}

describe('the documented configuration', () => {
  it.each(['docs/guide/cli.md', REFERENCE])('of %s is taken as it stands', async (page) => {
    const blocks = blocksOf(page)
    expect(blocks).not.toEqual([])
    for (const block of blocks) await ConfigFile.parse(page, block)
  })

  it('shows every setting', async () => {
    const [block = ''] = blocksOf(REFERENCE)
    const { config } = await ConfigFile.parse('config.toml', block)
    const mounts = Object.values(config.mounts ?? {})
    expect(mounts.map(({ backend }) => backend)).toEqual(mountBackends)
    for (const [, toml] of tables)
      for (const key of await listKnownKeys(toml)) expect(block).toMatch(new RegExp(`^\\[?${key}\\b`, 'm'))
  })

  it('explains every key in the section of its table', async () => {
    const page = readFileSync(join(root, REFERENCE), 'utf8')
    for (const [heading, toml] of tables) {
      const [, section = ''] = page.split(`${heading}\n`)
      const [rows = ''] = section.split(/^## /m)
      const keys = (await listKnownKeys(toml)).filter((key) => !page.includes(`## \`[${key}`))
      for (const key of keys) expect(rows, heading).toContain(`| \`${key}\` |`)
    }
  })
})

function mountTable(backend: string): string {
  return `[mounts."/m"]\nbackend = "${backend}"\n`
}
