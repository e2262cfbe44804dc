import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installNode, SUPPORTED } from './node-versions.js'
import { readSnippets } from './readme-snippets.js'

// What a user gets: the packed package in an empty project, with each Node we support.
const root = fileURLToPath(new URL('..', import.meta.url))
const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
/** Optional packages that the README's snippets need. */
const PEERS = ['just-bash', 'pyodide']

const scratch = mkdtempSync(join(tmpdir(), 'coppice-release-'))
try {
  const tarball = pack()
  for (const version of SUPPORTED) checkOn(version, tarball)
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

/** Returns the path of the tarball; npm builds it first. */
function pack() {
  run('packs', root, process.env, 'npm', ['pack', '--pack-destination', scratch])
  const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return join(scratch, `${name}-${version}.tgz`)
}

function checkOn(version, tarball) {
  const project = mkdtempSync(join(scratch, 'project-'))
  const env = cleanEnvironment(project, installNode(version))
  const step = (what, program, args) => run(`Node ${version}: ${what}`, project, env, program, args)

  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }\n')
  const peers = PEERS.map((name) => `${name}@${devDependencies[name]}`)
  step('installs', 'npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', tarball])
  step('tour', 'npx', ['--no-install', 'coppice', 'tour', '--fast'])
  step('demo', 'npx', ['--no-install', 'coppice', 'demo', '--fast'])
  step('installs what the snippets need', 'npm', [
    'install',
    '--no-audit',
    '--no-fund',
    '--ignore-scripts',
    ...peers,
  ])
  for (const [index, code] of readSnippets().entries()) {
    const file = join(project, `snippet-${index + 1}.js`)
    writeFileSync(file, code)
    step(`README snippet ${index + 1}`, 'node', [file])
  }
}

/** No homes, caches or settings of this machine's user, and no variables that npm gave to this script. */
function cleanEnvironment(project, bin) {
  const kept = Object.entries(process.env).filter(([name]) => !/^(?:npm_|NODE_|COPPICE_|XDG_)/.test(name))
  return { ...Object.fromEntries(kept), HOME: project, PATH: `${bin}${delimiter}${process.env['PATH']}` }
}

function run(what, cwd, env, program, args) {
  const started = performance.now()
  try {
    execFileSync(program, args, {
      cwd,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 300_000,
    })
  } catch (error) {
    console.error(`FAILED ${what}: ${program} ${args.join(' ')}\n${error.stdout}${error.stderr}`)
    throw new Error(`${what} failed`)
  }
  console.log(`ok ${what}, ${((performance.now() - started) / 1000).toFixed(1)} s`)
}
