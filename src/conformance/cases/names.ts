import assert from 'node:assert/strict'
import { assertBytes, assertRejects, listNames, listWalkedPaths } from '../assertions.ts'
import type { Case } from '../subject.ts'

/** Names that a careless layer would change, hide or reject. Each must be stored exactly. */
const unusualNames: readonly string[] = [
  'new\nline',
  'tab\there',
  '🎉 party',
  '%2e%2e',
  '%00',
  'back\\slash',
  '..\\..\\up',
  '...',
  '.hidden',
  '-rf',
  ' leading and trailing ',
  '*?[x]{a,b}',
  '"quotes\'',
  '$HOME`id`',
  'a:b|c<d>e',
  '__proto__',
  'constructor',
  '\u202etxt.exe',
  'n'.repeat(255),
  'é'.repeat(127),
]

const similarNames: readonly (readonly [string, string])[] = [
  ['Readme', 'README'],
  ['caf\u00e9', 'cafe\u0301'],
  ['_x', '%x'],
]

export const nameCases: readonly Case[] = [
  {
    name: 'unusual names are stored, listed, walked and removed exactly',
    needs: ['write'],
    seed: {},
    run: async (fs) => {
      for (const name of unusualNames) await fs.write(`/odd/${name}`, name)
      assert.deepEqual((await listNames(fs, '/odd')).toSorted(), unusualNames.toSorted())
      assert.equal((await listWalkedPaths(fs, '/')).length, unusualNames.length)
      for (const name of unusualNames) await assertBytes(fs, `/odd/${name}`, name)
      for (const name of unusualNames) await fs.remove(`/odd/${name}`)
      assert.deepEqual(await listWalkedPaths(fs, '/'), [])
    },
  },
  {
    name: 'unusual names work for directories too',
    needs: ['write'],
    seed: {},
    run: async (fs) => {
      for (const name of unusualNames) await fs.write(`/${name}/inside`, name)
      assert.equal((await listWalkedPaths(fs, '/')).length, unusualNames.length)
      for (const name of unusualNames) assert.deepEqual(await listNames(fs, `/${name}`), ['inside'])
    },
  },
  {
    name: 'names that differ only in case or Unicode form are different',
    needs: ['write'],
    seed: {},
    run: async (fs) => {
      for (const [one, other] of similarNames) {
        await fs.write(`/${one}`, 'one')
        await fs.write(`/${other}`, 'other')
        await assertBytes(fs, `/${one}`, 'one')
        await assertBytes(fs, `/${other}`, 'other')
      }
      assert.equal((await listNames(fs, '/')).length, similarNames.length * 2)
    },
  },
  {
    name: 'a name that cannot be stored exactly is EINVAL and stores nothing',
    needs: ['write'],
    seed: {},
    run: async (fs) => {
      for (const name of ['nul\0byte', 'x'.repeat(256), 'é'.repeat(128), 'lone\ud800surrogate']) {
        await assertRejects(() => fs.write(`/${name}`, 'x'), 'EINVAL')
        await assertRejects(() => fs.write(`/${name}/inside`, 'x'), 'EINVAL')
        await assertRejects(() => fs.mkdir(`/${name}`), 'EINVAL')
        await assertRejects(() => fs.read(`/${name}`), 'EINVAL')
      }
      assert.deepEqual(await listNames(fs, '/'), [])
    },
  },
  {
    name: 'dots in a path are resolved and cannot climb over the root',
    needs: ['write'],
    seed: {},
    run: async (fs) => {
      await fs.write('/../../../up.txt', 'x')
      await fs.write('/a/../b/./c.txt', 'y')
      assert.deepEqual(await listWalkedPaths(fs, '/'), ['/b/c.txt', '/up.txt'])
    },
  },
  {
    name: 'a tree of a hundred levels works throughout',
    needs: ['write'],
    seed: {},
    run: async (fs) => {
      const path = `${'/level'.repeat(100)}/file`
      await fs.write(path, 'deep')
      await assertBytes(fs, path, 'deep')
      assert.deepEqual(await listWalkedPaths(fs, '/'), [path])
      await fs.remove('/level', { recursive: true })
      assert.deepEqual(await listWalkedPaths(fs, '/', { includeDirs: true }), [])
    },
  },
]
