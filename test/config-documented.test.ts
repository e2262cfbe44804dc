import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ConfigFile, mountBackends } from '../src/config/index.ts'
import { root } from './support/run-node.ts'

/** The TOML blocks of a page. */
function blocksOf(page: string): string[] {
  const text = readFileSync(join(root, page), 'utf8')
  return [...text.matchAll(/^```toml\n(.*?)^```/gms)].map(([, block = '']) => block)
}

describe('the documented configuration', () => {
  it.each(['docs/guide/cli.md', 'docs/guide/namespace.md'])('of %s is taken as it stands', async (page) => {
    const blocks = blocksOf(page)
    expect(blocks).not.toEqual([])
    for (const block of blocks) await ConfigFile.parse(page, block)
  })

  it('shows every setting there is', async () => {
    const [block = ''] = blocksOf('docs/guide/namespace.md')
    const { config } = await ConfigFile.parse('config.toml', block)
    const mounts = Object.values(config.mounts ?? {})
    expect(mounts.map(({ backend }) => backend)).toEqual(mountBackends)
    for (const table of [
      '',
      '[vfs]\n',
      '[tools]\n',
      '[host]\n',
      '[web]\n',
      ...mountBackends.map(mountTable),
    ]) {
      const refusal = await ConfigFile.parse('config.toml', `${table}unknown = 1\n`).catch(String)
      const [, known = ''] = String(refusal).match(/no setting '[^;]*unknown'; known: (.*)/) ?? []
      expect(known).not.toBe('')
      for (const key of known.split(', ')) expect(block).toMatch(new RegExp(`^\\[?${key}\\b`, 'm'))
    }
  })
})

function mountTable(backend: string): string {
  return `[mounts."/m"]\nbackend = "${backend}"\n`
}
