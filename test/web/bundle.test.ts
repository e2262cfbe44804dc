import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { PAGE_PATHS } from '../../src/web-api/index.ts'
import { root } from '../support/run-node.ts'

/** Compressed bytes of script for the first paint, and of everything. */
const MAX_FIRST = 40 * 1024
const MAX_ALL = 350 * 1024

const directory = join(root, 'dist/web')
const read = (name: string) => readFileSync(join(directory, name), 'utf8')
const scripts = readdirSync(directory).filter((name) => name.endsWith('.js'))
const measure = (names: Iterable<string>) =>
  [...names].reduce((sum, name) => sum + gzipSync(readFileSync(join(directory, name))).length, 0)

describe('the bundle of the page', () => {
  it('paints with at most 40 KB of compressed script, and has at most 350 KB in all', () => {
    const [entry = ''] = /main-[\w-]+\.js/.exec(read('index.html')) ?? []
    const first = listStaticImports(entry)
    expect(first.size).toBeGreaterThan(1)
    // The first screen is loaded by the first script, and nothing is shown before it.
    for (const name of scripts.filter((script) => script.startsWith('home-screen')))
      for (const imported of listStaticImports(name)) first.add(imported)
    expect(measure(first)).toBeLessThanOrEqual(MAX_FIRST)
    expect(measure(readdirSync(directory))).toBeLessThanOrEqual(MAX_ALL)
  })

  it('has a script for each screen', () => {
    const screens = ['home', 'compare', 'process', 'approvals', 'files']
    expect(screens.filter((name) => !scripts.some((script) => script.startsWith(`${name}-screen-`)))).toEqual(
      [],
    )
  })

  it('has a page for each address, which loads the script of its screen at once', () => {
    for (const path of PAGE_PATHS) {
      const name = path.slice(1)
      expect(read(`${name || 'index'}.html`)).toMatch(
        new RegExp(`rel="modulepreload" href="/${name || 'home'}-screen-[\\w-]+\\.js"`),
      )
    }
  })

  it('has nothing inline, and loads nothing from elsewhere', () => {
    const html = readdirSync(directory)
      .filter((name) => name.endsWith('.html'))
      .map(read)
      .join('\n')
    expect(html).not.toMatch(/<script(?![^>]*\ssrc="\/)|<style|\sstyle=|\son\w+=/)
    const addresses = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address ?? '')
    expect(addresses.filter((address) => !/^\/[\w.-]+$/.test(address))).toEqual([])
    const everything = readdirSync(directory).map(read).join('\n')
    expect(everything).not.toMatch(/@import|@font-face|url\(\s*["']?https?:/)
  })

  it('loads the editor only for who edits', () => {
    const loaded = scripts.filter((name) => !name.startsWith('editor-') && !name.startsWith('merge-editor-'))
    const eager = loaded.flatMap((name) => [...listStaticImports(name)])
    expect(eager.filter((name) => name.startsWith('editor-'))).toEqual([])
    expect(scripts.some((name) => name.startsWith('editor-'))).toBe(true)
  })

  it('never makes HTML from a string', () => {
    const source = join(root, 'src/web')
    const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.tsx?$/.test(name),
    )
    const making = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment/
    expect(files.filter((name) => making.test(readFileSync(join(source, name), 'utf8')))).toEqual([])
  })
})

/** Scripts that a script loads at once, itself included. */
function listStaticImports(name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found
  found.add(name)
  for (const [, imported = ''] of read(name).matchAll(/(?:from|import)\s*["']\.\/([\w.-]+\.js)["']/g))
    listStaticImports(imported, found)
  return found
}
