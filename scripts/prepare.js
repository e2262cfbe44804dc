import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

// npm runs this after `npm ci`, before it packs, and when `npx coppice` links a checkout for the first time. It shows
// no output then, so that a build would look like a program that hangs: bin/coppice.js says what to do instead.
const isNpx = process.env['npm_command'] === 'exec'
const isBuilt = existsSync(new URL('../dist/cli/main.js', import.meta.url))

if (isNpx) console.log(isBuilt ? 'coppice: uses the build in dist' : 'coppice: not built')
else
  execFileSync('npm', ['run', 'build'], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    stdio: 'inherit',
  })
