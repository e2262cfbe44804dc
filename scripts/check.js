import { execFileSync, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'

// Lint, types and unit tests at once. With --changed, only what differs from origin/main, committed or not.
// With --package, the build and the checks of the package instead of unit tests: what `npm test` does before all tests.
const isPartial = process.argv.includes('--changed')
const base = isPartial ? findBase() : ''
const started = performance.now()

const lint = ['lint', 'biome', ['check', '--error-on-warnings', ...(isPartial ? listChangedFiles() : ['.'])]]
// The build info of the last run stays in the cache: only files that changed are checked again.
const buildInfo = ['--incremental', '--tsBuildInfoFile', 'node_modules/.cache/check.tsbuildinfo']
const types = ['types', 'tsc', ['--noEmit', ...buildInfo]]
const pageTypes = ['types of the page', 'tsc', ['--noEmit', '-p', 'src/web']]
const unit = ['unit', 'vitest', ['run', '--project=unit', ...(isPartial ? ['--changed', base] : [])]]
const build = ['build', 'npm', ['run', 'build']]
const packed = ['package', 'npm', ['run', 'package']]

const lanes = process.argv.includes('--package')
  ? [
      [lint, types, pageTypes],
      [build, packed],
    ]
  : [[lint], [types], [pageTypes], [unit]]
const results = (await Promise.all(lanes.map(runInTurn))).flat()
console.log(
  results.map(({ name, code, time }) => `${name} ${code === 0 ? 'ok' : 'FAILED'} ${time}`).join(', '),
)
process.exitCode = results.every(({ code }) => code === 0) ? 0 : 1

/** Runs programs one after the other, up to the first that fails. */
async function runInTurn(programs) {
  const results = []
  for (const program of programs) {
    results.push(await run(...program))
    if (results.at(-1).code !== 0) break
  }
  return results
}

/** Runs a program of node_modules and prints its output when it ends, so that outputs do not mix. */
function run(name, program, args) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: colored() })
  const chunks = []
  child.stdout.on('data', (chunk) => chunks.push(chunk))
  child.stderr.on('data', (chunk) => chunks.push(chunk))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => {
      process.stdout.write(Buffer.concat(chunks))
      resolve({ name, code, time: `${((performance.now() - started) / 1000).toFixed(1)} s` })
    })
  })
}

function colored() {
  return process.stdout.isTTY ? { ...process.env, FORCE_COLOR: '1' } : process.env
}

function findBase() {
  try {
    return git('merge-base', 'HEAD', 'origin/main').trim()
  } catch {
    return 'HEAD'
  }
}

function listChangedFiles() {
  const changed =
    git('diff', '--name-only', '-z', base) + git('ls-files', '--others', '--exclude-standard', '-z')
  const files = changed.split('\0').filter((file) => file !== '' && existsSync(file))
  return [
    '--no-errors-on-unmatched',
    '--files-ignore-unknown=true',
    ...(files.length > 0 ? files : ['package.json']),
  ]
}

function git(...args) {
  return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
}
