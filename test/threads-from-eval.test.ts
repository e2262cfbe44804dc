import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { whyNoMount } from './fuse/mounted-vault.ts'
import { root, runNode } from './support/run-node.ts'

const noMount = whyNoMount()
const scratches: string[] = []
afterEach(() => {
  for (const scratch of scratches.splice(0)) rmSync(scratch, { recursive: true, force: true })
})

function mountPlace(): string {
  const scratch = mkdtempSync(join(tmpdir(), 'coppice-eval-'))
  scratches.push(scratch)
  mkdirSync(join(scratch, 'mount'))
  return scratch
}

/** What a program prints that has no file of its own. Those of the README are run like this too, with Python in a thread. */
async function printed(program: string, flags: readonly string[] = ['--input-type=module']): Promise<string> {
  const tools = `import { execFile } from 'node:child_process'
    import { promisify } from 'node:util'
    const source = (path) => import(${JSON.stringify(`${root}/src/`)} + path)
    const sh = async (script) => (await promisify(execFile)('sh', ['-c', script])).stdout\n`
  const { code, stdout, stderr } = await runNode([...flags, '--eval', tools + program])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout.trim()
}

describe('a program given to node --eval', () => {
  it('reads a web page in a thread', async () => {
    const program = `const { readPage } = await source('devices/web/read-page.ts')
      const page = { html: '<h1>Title</h1><p>text</p>', url: 'https://example.org' }
      console.log((await readPage(page, AbortSignal.timeout(20_000))).text)`
    expect(await printed(program)).toContain('# Title')
  })

  it.skipIf(noMount)('mounts a file system, whose requests a thread reads', async () => {
    const directory = join(mountPlace(), 'mount')
    const program = `const { mountFileSystem } = await source('fuse/index.ts')
      const { MemoryFs } = await source('vfs/index.ts')
      const mount = await mountFileSystem(new MemoryFs({ '/f': 'mounted' }), { directory: '${directory}' })
      console.log(await sh('cat ${directory}/f'))
      await mount[Symbol.asyncDispose]()`
    expect(await printed(program)).toBe('mounted')
  })

  it.skipIf(noMount)(
    'mounts a vault, which one thread serves and another has settled',
    // Without the second thread it is settled too, but only when the store has been asked for longer than this.
    { timeout: 60_000 },
    async () => {
      const scratch = mountPlace()
      const [home, directory] = [{ path: join(scratch, 'home') }, join(scratch, 'mount')]
      const program = `const { mountVault } = await source('fuse/index.ts')
      const { openHome } = await source('backends/vault/index.ts')
      const home = await openHome(${JSON.stringify(home)})
      const vault = await home.createVault('v')
      const mount = await mountVault({ home: ${JSON.stringify(home)}, vault: 'v', directory: '${directory}' })
      await sh('printf written > ${directory}/f')
      const size = () => vault.stat('/f').then((stat) => stat.size, () => 0)
      while ((await size()) < 7) await sh('sleep 0.02')
      for await (const chunk of vault.read('/f')) console.log(Buffer.from(chunk).toString())
      await mount[Symbol.asyncDispose]()
      await home[Symbol.asyncDispose]()`
      expect(await printed(program)).toBe('written')
    },
  )

  it('hands on to threads how modules are found, however that was said', async () => {
    const flags = ['--input-type', 'module', '-C', 'one', '--conditions=two', '--expose-gc']
    const scratch = mountPlace()
    const asking = "require('node:worker_threads').parentPort.postMessage(process.execArgv)"
    writeFileSync(join(scratch, 'asking.js'), asking)
    const program = `const { startThread } = await source('machine/index.ts')
      const thread = startThread('file://${scratch}/beside.js', 'asking', {})
      thread.on('message', (given) => console.log(given.join(' ')))`
    expect(await printed(program, flags)).toBe('--conditions=coppice-source -C one --conditions=two')
  })
})
