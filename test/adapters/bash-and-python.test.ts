import { diff, type FileSystem, MemoryFs, MountTable, OverlayFs, readText } from 'coppice'
import { createBash } from 'coppice/adapters/just-bash'
import { createPython } from 'coppice/adapters/pyodide'
import { openGit } from 'coppice/backends/git'
import { openHome } from 'coppice/store'
import { afterAll, describe, expect, it } from 'vitest'
import { TestRepository } from '../support/git-repository.ts'

const python = await createPython()
const home = await openHome()
const repository = new TestRepository([
  { files: { 'README.md': '# Orchard\n', 'src/prices.py': 'prices = {"apples": 2, "pears": 4}\n' } },
])
afterAll(async () => {
  await python.close()
  await home.close()
  repository[Symbol.dispose]()
})

/** A file system for both, and a function that forks it. */
interface Orchard {
  readonly fs: FileSystem
  readonly fork: () => FileSystem | Promise<FileSystem>
}

async function inMemory(): Promise<Orchard> {
  const fs = new MemoryFs()
  return { fs, fork: () => fs.fork() }
}

async function inVault(): Promise<Orchard> {
  return { fs: await home.createVault('orchard'), fork: () => home.fork('orchard', 'branch') }
}

async function overGit(): Promise<Orchard> {
  const table = new MountTable({ '/': new MemoryFs(), '/repo': await openGit(repository.path) })
  const fs = new OverlayFs(table)
  return { fs, fork: () => fs.fork() }
}

const sh = async (fs: FileSystem, script: string) => {
  const { stdout, stderr, exitCode } = await (await createBash(fs)).exec(script)
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 })
  return stdout
}

/** Runs a program with a file system as its working directory. */
const py = async (fs: FileSystem, code: string) => {
  await python.mount('/work', fs)
  const { value } = await python.run(`import json, os, re\nos.chdir("/work")\n${code}`)
  await python.run('os.chdir("/")')
  await python.unmount('/work')
  return value
}

const COUNT = `
lines = [line.split() for line in open("log/picked.txt")]
total = {}
for name, count in lines: total[name] = total.get(name, 0) + int(count)
with open("total.json", "w") as f: json.dump(total, f)
with open("log/picked.txt", "a") as f: f.write("# counted\\n")
total`

describe.each([
  ['memory', inMemory],
  ['a vault', inVault],
  ['memory and a repository of Git under an overlay', overGit],
])('bash and Python on %s', (_, make) => {
  it('work on the same files, and both continue after a fork', async () => {
    const { fs, fork } = await make()
    await sh(fs, 'mkdir log && printf "apples 3\\npears 5\\napples 4\\n" > log/picked.txt')
    expect(await py(fs, COUNT)).toEqual({ apples: 7, pears: 5 })
    expect(await sh(fs, 'grep -r apples log total.json; tail -n 1 log/picked.txt')).toBe(
      'log/picked.txt:apples 3\nlog/picked.txt:apples 4\ntotal.json:{"apples": 7, "pears": 5}\n# counted\n',
    )

    const branch = await fork()
    await sh(fs, 'sed -i s/apples/quinces/ log/picked.txt && rm total.json')
    await py(branch, 'with open("total.json", "r+") as f: f.seek(11); f.write("9")')
    expect(await sh(branch, 'cat total.json; ls log')).toBe('{"apples": 9, "pears": 5}picked.txt\n')
    expect(
      await py(fs, '[os.listdir("log"), os.path.exists("total.json"), open("log/picked.txt").readline()]'),
    ).toEqual([['picked.txt'], false, 'quinces 3\n'])
    expect(await py(branch, 'open("log/picked.txt").readline()')).toBe('apples 3\n')
    const changes = await Array.fromAsync(diff(fs, branch), ({ kind, path }) => `${kind} ${path}`)
    expect(changes).toEqual(['modified /log/picked.txt', 'added /total.json'])
  })
})

it('bash and Python change a Git repository through an overlay', async () => {
  const { fs } = await overGit()
  await sh(fs, 'sed -i "s/2/3/" repo/src/prices.py')
  const code = `
import sys
sys.path.insert(0, "/work/repo/src")
from prices import prices
with open("repo/README.md", "a") as f: f.write(f"Apples are {prices['apples']}.\\n")
os.rename("repo/src/prices.py", "repo/src/price_list.py")`
  await py(fs, code)
  expect(await sh(fs, 'cat repo/README.md && find repo -type f | sort')).toBe(
    '# Orchard\nApples are 3.\nrepo/README.md\nrepo/src/price_list.py\n',
  )
  const git = await openGit(repository.path)
  expect(await readText(git, '/README.md')).toBe('# Orchard\n')
})
