import { rmSync } from 'node:fs'
import { removeStamp } from './build-stamp.js'

// A file that was renamed in src must not live on in what is published.
rmSync(new URL('../dist', import.meta.url), { recursive: true, force: true })
removeStamp()
