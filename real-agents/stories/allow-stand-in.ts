import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Stage } from '../stage.ts'

/** Adds the profile `stand-in`, which may reach the stand-in of an API and nothing else. */
export async function allowStandIn(stage: Stage, url: string): Promise<void> {
  const profiles = join(stage.directory, 'coppice/profiles')
  await mkdir(profiles, { recursive: true })
  await writeFile(join(profiles, 'stand-in.toml'), `hosts = [${JSON.stringify(new URL(url).host)}]\n`)
}
