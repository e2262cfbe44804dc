import { describe, expect, it } from 'vitest'
import { type FileSystem, readText } from '../../vfs/index.ts'
import { openHome, type Vault } from './index.ts'

interface Shape {
  readonly name: string
  readonly change: (vault: Vault) => Promise<void>
}

/** Everything below the root: directories, links with their target, files with their content. */
async function treeOf(fs: FileSystem & Pick<Vault, 'readlink'>): Promise<string[]> {
  const tree: string[] = []
  for await (const { path, stat } of fs.walk('/', { includeDirs: true })) {
    if (stat.type === 'directory') tree.push(`${path}/`)
    else tree.push(`${path} ${stat.type === 'symlink' ? await fs.readlink(path) : await readText(fs, path)}`)
  }
  return tree
}

/** The vault after a fork of it was changed and merged back, and the fork. */
async function merged(change: Shape['change']): Promise<[base: string[], task: string[]]> {
  const home = await openHome()
  const base = await home.createVault('base')
  for (const path of ['/a', '/b', '/z', '/d/f', '/d/g', '/p/q/f']) await base.write(path, path)
  await base.symlink('a', '/link')
  const task = await home.fork('base', 'task')
  await change(task)
  await home.merge('task', 'base')
  return [await treeOf(base), await treeOf(task)]
}

const shapes: readonly Shape[] = [
  {
    name: 'a file that becomes a directory',
    change: async (vault) => {
      await vault.remove('/a')
      await vault.write('/a/deep/file', 'x')
    },
  },
  {
    name: 'a directory that is renamed, with a file in it that is changed',
    change: async (vault) => {
      await vault.rename('/d', '/e')
      await vault.write('/e/f', 'changed')
    },
  },
  {
    name: 'directories that change places, the inner one outside',
    change: async (vault) => {
      await vault.rename('/p/q', '/q')
      await vault.rename('/p', '/q/p')
    },
  },
  {
    name: 'files that change places',
    change: async (vault) => {
      await vault.rename('/a', '/aside')
      await vault.rename('/b', '/a')
      await vault.rename('/aside', '/b')
    },
  },
  {
    name: 'a file that takes the place of another that moved on',
    change: async (vault) => {
      await vault.rename('/b', '/c')
      await vault.rename('/a', '/b')
    },
  },
  {
    name: 'a file that moves into a directory of its own name',
    change: async (vault) => {
      await vault.rename('/a', '/aside')
      await vault.rename('/aside', '/a/a')
    },
  },
  {
    name: 'a directory that is moved, with a file in its place',
    change: async (vault) => {
      await vault.rename('/p', '/d/p')
      await vault.write('/p', 'x')
    },
  },
  {
    name: 'a file that is renamed over another',
    change: (vault) => vault.rename('/z', '/a', { overwrite: true }),
  },
  {
    name: 'a directory that becomes a file',
    change: async (vault) => {
      await vault.remove('/d', { recursive: true })
      await vault.write('/d', 'x')
    },
  },
  {
    name: 'a link that leads elsewhere',
    change: async (vault) => {
      await vault.remove('/link')
      await vault.symlink('b', '/link')
    },
  },
  {
    name: 'a link that leads elsewhere and has a second name',
    change: async (vault) => {
      await vault.remove('/link')
      await vault.symlink('b', '/link')
      await vault.link('/link', '/d/also')
    },
  },
  {
    name: 'a directory that is removed',
    change: (vault) => vault.remove('/d', { recursive: true }),
  },
  {
    name: 'a directory that is removed after its file was moved out',
    change: async (vault) => {
      await vault.rename('/d/f', '/f')
      await vault.remove('/d', { recursive: true })
    },
  },
]

describe('a merge into a vault that did not change since brings', () => {
  for (const { name, change } of shapes) {
    it(name, async () => {
      const [base, task] = await merged(change)
      expect(base).toEqual(task)
    })
  }
})
