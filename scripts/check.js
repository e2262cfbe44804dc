import { execFileSync, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { isBuildCurrent } from './build-stamp.js'

// Lint, types and unit tests at once. With --changed, only what differs from origin/main, committed or not.
// With --all, as `npm test` runs it: a build if `dist` is not current, and as root the programs of Debian that tests
// start. Then lint, types and the checks of the package beside all tests, which wait for processes and disks often enough
// to leave the checks room. Further arguments go to vitest.
const isWhole = process.argv.includes('--all')
const isPartial = process.argv.includes('--changed')
const base = isPartial ? findBase() : ''
const started = performance.now()

const lint = ['lint', 'biome', ['check', '--error-on-warnings', ...(isPartial ? listChangedFiles() : ['.'])]]
// The build info of the last run stays in the cache: only files that changed are checked again.
const buildInfo = ['--incremental', '--tsBuildInfoFile', 'node_modules/.cache/check.tsbuildinfo']
const types = ['types', 'tsc', ['--noEmit', ...buildInfo]]
const pageTypes = ['types of the page', 'tsc', ['--noEmit', '-p', 'src/web']]
// Unit tests wait for nothing: another worker would only load all modules once more.
const unitArgs = ['run', '--project=unit', '--maxWorkers=100%', ...(isPartial ? ['--changed', base] : [])]
const unit = ['unit', 'vitest', unitArgs]
const build = ['build', 'npm', ['run', 'build']]
const programs = ['programs', 'node', ['test/support/install-programs.ts'], 'inherit']
const packed = ['package', 'npm', ['run', 'package']]
const selected = process.argv.slice(2).filter((argument) => argument !== '--all')
const everyTest = ['tests', 'vitest', ['run', ...selected], 'inherit']

const stop = new AbortController()
const results = isWhole
  ? await runAll()
  : (await Promise.all([[lint], [types], [pageTypes], [unit]].map(runInTurn))).flat()
for (const { output } of results) process.stdout.write(output)
console.log(results.map(({ name, result, time }) => `${name} ${result} ${time}`).join(', '))
process.exitCode = results.some(isFailed) ? 1 : 0

/** A check that fails stops the tests: they take minutes, and its output would scroll away. */
async function runAll() {
  const preparing = [...(isBuildCurrent() ? [] : [[build]]), [programs]]
  const built = (await Promise.all(preparing.map(runInTurn))).flat()
  if (built.some(isFailed)) return built
  const checks = runInTurn([lint, types, pageTypes, packed]).then((results) => {
    if (results.some(isFailed)) stop.abort()
    return results
  })
  const [tested, checked] = await Promise.all([runInTurn([everyTest]), checks])
  return [...built, ...tested, ...checked]
}

function isFailed({ result }) {
  return result !== 'ok'
}

/** Runs programs one after the other, up to the first that fails. */
async function runInTurn(programs) {
  const results = []
  for (const program of programs) {
    results.push(await run(...program))
    if (isFailed(results.at(-1))) break
  }
  return results
}

/** Runs a program of node_modules. Its output is printed when all have ended, so that outputs do not mix. */
function run(name, program, args, stdio = 'pipe') {
  const child = spawn(program, args, { stdio: ['ignore', stdio, stdio], env: colored() })
  stop.signal.addEventListener('abort', () => child.kill('SIGINT'))
  const chunks = []
  child.stdout?.on('data', (chunk) => chunks.push(chunk))
  child.stderr?.on('data', (chunk) => chunks.push(chunk))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => {
      const time = `${((performance.now() - started) / 1000).toFixed(1)} s`
      const failure = stop.signal.aborted ? 'stopped' : 'FAILED'
      resolve({ name, result: code === 0 ? 'ok' : failure, time, output: Buffer.concat(chunks) })
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
