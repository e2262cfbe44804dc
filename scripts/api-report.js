import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { formatReports } from '../test/support/api-report.ts'
import { readPublicApi } from '../test/support/public-api.ts'

// Rewrites the files in `api`: every exported name with its signature. A change to them is a change of the public API.
const root = fileURLToPath(new URL('..', import.meta.url))
const directory = join(root, 'api')
rmSync(directory, { recursive: true, force: true })
mkdirSync(directory)
for (const [name, text] of formatReports(readPublicApi(root))) writeFileSync(join(directory, name), text)
