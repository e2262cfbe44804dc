/** The command line on its source, so that no stale build is measured. */
import { main } from '../../../src/cli/main.ts'

process.exitCode = await main(process.argv.slice(2))
