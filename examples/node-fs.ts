// A vault as the `fs` that other packages take: plain calls, streams, glob, and git without a directory.
// Run: npx node examples/node-fs.ts
import assert from 'node:assert/strict'
import { pipeline } from 'node:stream/promises'
import { openHome } from 'coppice'
import { nodeFs } from 'coppice/adapters/node-fs'
import { glob } from 'glob'
import git from 'isomorphic-git'

const home = await openHome()
const vault = await home.createVault('work')
const fs = nodeFs(vault, { cwd: '/project' })

await fs.promises.mkdir('/project/src', { recursive: true })
await fs.promises.writeFile('src/main.ts', 'export {}\n')
fs.appendFileSync('src/main.ts', '// more\n')
await pipeline(fs.createReadStream('src/main.ts'), fs.createWriteStream('copy.ts'))
assert.equal(fs.readFileSync('/project/copy.ts', 'utf8'), 'export {}\n// more\n')

const failed = await fs.promises.readFile('missing').catch((error: unknown) => error)
assert.match(String(failed), /ENOENT: no such file or directory, open 'missing'/)

assert.deepEqual(await glob('**/*.ts', { fs, cwd: '/project/src' }), ['main.ts'])

const dir = '/project'
const author = { name: 'Anna', email: 'anna@example.org' }
await git.init({ fs, dir })
await git.add({ fs, dir, filepath: '.' })
await git.commit({ fs, dir, message: 'first', author })

const fork = nodeFs(await home.fork('work', 'task-1'))
await fork.promises.writeFile(`${dir}/copy.ts`, 'changed in the fork\n')
const changed = async (of: typeof fs) =>
  (await git.statusMatrix({ fs: of, dir })).filter(([, head, work]) => head !== work).map(([name]) => name)
assert.deepEqual(await changed(fork), ['copy.ts'])
assert.deepEqual(await changed(fs), [])

await home.close()
console.log('done')
