/** A process of its own that does in sessions what its argument says, as whichever user it was started. */
import { type EscapeRun, runEscapes } from './escapes.ts'
import { runScenarios, type ScenarioRun } from './session-scenarios.ts'

const run: ScenarioRun | EscapeRun = JSON.parse(process.argv[2] ?? '{}')
console.log(JSON.stringify(await ('escapes' in run ? runEscapes(run) : runScenarios(run))))
