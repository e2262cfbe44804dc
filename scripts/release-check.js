import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installNode, SUPPORTED } from './node-versions.js'
import { readSnippets } from './readme-snippets.js'

// Checks what a user gets: the packed package in an empty project, with each Node that we support.
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
  const bin = installNode(version)
  const env = cleanEnvironment(project, bin)
  const step = (what, program, args) => run(`Node ${version}: ${what}`, project, env, program, args)
  // With the settings of this machine: without its certificates and registry, npm tries for minutes in vain.
  const install = (what, packages) =>
    run(`Node ${version}: ${what}`, project, withNode(process.env, bin), 'npm', [
      'install',
      '--no-audit',
      '--no-fund',
      '--ignore-scripts',
      ...packages,
    ])

  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }\n')
  const peers = PEERS.map((name) => `${name}@${devDependencies[name]}`)
  install('installs', [tarball])
  step('tour', 'npx', ['--no-install', 'coppice', 'tour', '--fast'])
  step('demo', 'npx', ['--no-install', 'coppice', 'demo', '--fast'])
  install('installs what the snippets need', peers)
  for (const [index, code] of readSnippets().entries()) {
    const file = join(project, `snippet-${index + 1}.js`)
    writeFileSync(file, code)
    step(`README snippet ${index + 1}`, 'node', [file])
  }
}

/** No homes, caches or settings of this machine's user, and no variables that npm gave to this script. */
function cleanEnvironment(project, bin) {
  const kept = Object.entries(process.env).filter(([name]) => !/^(?:npm_|NODE_|COPPICE_|XDG_)/.test(name))
  return withNode({ ...Object.fromEntries(kept), HOME: project }, bin)
}

/** Returns the environment with this Node before all others. */
function withNode(env, bin) {
  return { ...env, PATH: `${bin}${delimiter}${env['PATH']}` }
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
    console.error(
      `FAILED ${what}: ${program} ${args.join(' ')}\n${shorten(error.stdout)}${shorten(error.stderr)}`,
    )
    throw new Error(`${what} failed`)
  }
  console.log(`ok ${what}, ${((performance.now() - started) / 1000).toFixed(1)} s`)
}

/** Cuts lines of bundled code, which a trace shows whole. */
function shorten(text) {
  return text.replaceAll(/^(.{500}).+$/gm, '$1…')
}
