/** A process of its own that runs commands with allowed hosts, whose servers it has on its own loopback. */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { join, normalize } from 'node:path'
import { openCommandNetwork, parseHostRule } from '../../src/network/index.ts'
import { defaultLimits, type IsolationPlan } from '../../src/workspace/isolation/index.ts'
import { openSession } from '../../src/workspace/session/index.ts'
import { findVisibleNode } from './visible-node.ts'

export interface NetworkRun {
  /** Directory for everything. */
  readonly place: string
  readonly means: NonNullable<IsolationPlan['means']>
  /** Shell lines, with PORT, TLS_PORT, CLOSED_PORT, ABSTRACT and NODE in their environment. */
  readonly lines: Readonly<Record<string, string>>
}

export interface NetworkReport {
  readonly printed: Readonly<Record<string, string>>
  readonly problems: readonly string[]
  readonly connections: readonly unknown[]
}

const run: NetworkRun = JSON.parse(process.argv[2] ?? '{}')
const files = join(run.place, 'files')
const base = join(run.place, 'base')
prepareFiles()
const serveFile: RequestListener = (request, response) => {
  const path = join(files, normalize(new URL(`http://x${request.url}`).pathname))
  if (path.endsWith('/')) response.setHeader('content-type', 'text/html')
  try {
    response.end(readFileSync(path.endsWith('/') ? `${path}index.html` : path))
  } catch {
    response.writeHead(404).end()
  }
}
const tls = { key: readFileSync(join(run.place, 'key.pem')), cert: readFileSync(join(base, 'ca.pem')) }
const abstract = `coppice-test-${process.pid}`
const web = await listen(createHttpServer(serveFile))
const secure = await listen(createHttpsServer(tls, serveFile))
const createNeighbour = () => createServer((socket) => socket.end('ESCAPED'))
await once(createNeighbour().listen(`\0${abstract}`), 'listening')
const closed = await listen(createNeighbour())
writePackages()
console.log(JSON.stringify(await runLines()))
process.exit(0)

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address: AddressInfo | string | null = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

async function runLines(): Promise<NetworkReport> {
  const problems: string[] = []
  // At the first and last address nothing listens.
  const local = [2, 1, 3].map((address) => `127.0.0.${address}:${web}`)
  const rules = [`*.shop.example`, ...local, `127.0.0.1:${secure}`].map(parseHostRule)
  const resolve = async () => ['127.0.0.1']
  const node = findVisibleNode(base)
  const session = await openSession(
    'auto',
    { lower: base, staged: [] },
    { directory: join(run.place, 'sessions') },
  )
  const printed: Record<string, string> = {}
  const connections: unknown[] = []
  for (const [name, shell] of Object.entries(run.lines)) {
    await using network = await openCommandNetwork({
      rules,
      resolve,
      onProblem: (line) => problems.push(line),
    })
    const outcome = await session.run({
      command: { shell },
      cwd: '/',
      env: {
        PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
        HOME: join(run.place, 'home'),
        ...network.defaults,
        ...network.env,
        PORT: String(web),
        TLS_PORT: String(secure),
        CLOSED_PORT: String(closed),
        ABSTRACT: abstract,
        NODE: node,
      },
      timeoutMs: 60_000,
      limits: defaultLimits,
      isolation: {
        level: 'strict',
        network: false,
        means: run.means,
        userHome: join(run.place, 'home'),
        listener: network.listener,
      },
    })
    printed[name] = Buffer.concat([outcome.stdout, outcome.stderr]).toString()
    connections.push(...network.listConnections())
  }
  await session[Symbol.asyncDispose]()
  return { printed, problems, connections }
}

/** Prepares a repository for the plain protocol of git, and a certificate. */
function prepareFiles(): void {
  for (const path of ['home', 'base', 'files/simple/tiny', 'work'])
    mkdirSync(join(run.place, path), { recursive: true })
  // Without it npm installs into the nearest project above.
  writeFileSync(join(base, 'package.json'), '{}')
  writeFileSync(join(files, 'hello'), 'hello from outside\n')
  const subject = ['-subj', '/CN=shop.example', '-addext', 'subjectAltName=DNS:*.shop.example']
  const key = [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-keyout',
    join(run.place, 'key.pem'),
  ]
  execFileSync('openssl', ['req', '-x509', '-days', '2', ...key, ...subject, '-out', join(base, 'ca.pem')], {
    stdio: 'ignore',
  })
  const work = join(run.place, 'work')
  const who = ['-c', 'user.name=me', '-c', 'user.email=me@shop.example', '-C', work]
  writeFileSync(join(work, 'file'), 'from a repository\n')
  for (const words of [
    ['init', '-q'],
    ['add', 'file'],
    ['commit', '-qm', 'first'],
  ])
    execFileSync('git', [...who, ...words])
  execFileSync('git', ['clone', '-q', '--bare', work, join(files, 'repo.git')])
  execFileSync('git', ['-C', join(files, 'repo.git'), 'update-server-info'])
}

/** Writes a package for npm and one for pip, which name their files in full. */
function writePackages(): void {
  const tiny = join(run.place, 'tiny/package')
  mkdirSync(tiny, { recursive: true })
  writeFileSync(join(tiny, 'package.json'), '{"name":"tiny","version":"1.0.0"}')
  writeFileSync(join(tiny, 'index.js'), 'module.exports = "from npm"\n')
  execFileSync('tar', ['czf', join(files, 'tiny.tgz'), '-C', join(run.place, 'tiny'), 'package'])
  const tarball = `http://npm.shop.example:${web}/tiny.tgz`
  const version = { name: 'tiny', version: '1.0.0', dist: { tarball } }
  const meta = { name: 'tiny', 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': version } }
  writeFileSync(join(files, 'tiny'), JSON.stringify(meta))
  const wheel = 'tiny-1.0.0-py3-none-any.whl'
  const zip = `import zipfile,sys
z=zipfile.ZipFile(sys.argv[1],'w'); d='tiny-1.0.0.dist-info/'
z.writestr('tiny.py','print("from pip")'); z.writestr(d+'METADATA','Metadata-Version: 2.1\\nName: tiny\\nVersion: 1.0.0\\n')
z.writestr(d+'WHEEL','Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n'); z.writestr(d+'RECORD','')`
  execFileSync('python3', ['-c', zip, join(files, wheel)])
  writeFileSync(join(files, 'simple/tiny/index.html'), `<a href="/${wheel}">${wheel}</a>`)
}
