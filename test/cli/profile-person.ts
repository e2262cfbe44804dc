import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Run } from '../support/run-node.ts'
import { Cli } from './run-cli.ts'

/** A program that works only with its login, its variable and its settings, and writes its session back. */
export const AGENT: string = `#!/bin/sh
[ "$(cat ~/.amp/login)" = "let me in" ] || { echo "not logged in" >&2; exit 3; }
[ "$ROBOT_API_KEY" = "robot-key" ] || { echo "no key" >&2; exit 4; }
grep -q set ~/.amp/settings || { echo "no settings" >&2; exit 5; }
echo "work by robot" >> work.txt
mkdir -p ~/.amp/sessions && echo "session $$" >> ~/.amp/sessions/log
echo '{"runs": true}' > ~/.robot.json.tmp && mv ~/.robot.json.tmp ~/.robot.json
cat ~/.amp/sessions/log | wc -l
cat ~/.ssh/id 2>/dev/null || :
`

/** The profile of the program. */
export const PROFILE: string = `summary = "A stand-in"
programs = ["robot"]
env = ["ROBOT_*"]
hosts = ["api.robot.example"]
mask = true
[paths]
".amp/" = "copy"
".amp/login" = "share"
".robot.json" = "copy"
`

/** A user with the program outside of the project, its files in the home directory, and a profile of their own. */
export class Person {
  readonly cli: Cli
  readonly userHome: string
  readonly env: Record<string, string>

  constructor(profile: string = PROFILE, cli: Cli = new Cli()) {
    this.cli = cli
    this.userHome = join(cli.scratch, 'user')
    this.env = {
      HOME: this.userHome,
      PATH: `${join(this.userHome, '.local/bin')}:${process.env['PATH']}`,
      ROBOT_API_KEY: 'robot-key',
    }
    this.write('.local/bin/robot', AGENT, 0o755)
    this.write('.amp/login', 'let me in\n')
    this.write('.amp/settings', 'set\n')
    this.write('.ssh/id', 'SECRET\n')
    mkdirSync(join(this.cli.home, 'profiles'), { recursive: true })
    chmodSync(this.cli.home, 0o700)
    if (profile !== '') this.writeProfile('robot', profile)
  }

  write(name: string, content: string, mode = 0o600): void {
    mkdirSync(dirname(join(this.userHome, name)), { recursive: true })
    writeFileSync(join(this.userHome, name), content, { mode })
  }

  writeProfile(name: string, content: string): void {
    writeFileSync(join(this.cli.home, 'profiles', `${name}.toml`), content)
  }

  exec(...args: string[]): Promise<Run> {
    return this.cli.run(['exec', ...args], { env: this.env })
  }

  run(...args: string[]): Promise<Run> {
    return this.cli.run(args, { env: this.env })
  }
}
