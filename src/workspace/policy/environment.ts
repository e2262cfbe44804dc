import type { Finding } from './category.ts'
import { finding, type Nested } from './programs/index.ts'

/** Variables and settings that hold a command which some program runs. */
const COMMANDS = new Set(
  'PAGER GIT_PAGER MANPAGER EDITOR VISUAL GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_SSH_COMMAND GIT_SSH GIT_EXTERNAL_DIFF GIT_ASKPASS SSH_ASKPASS SUDO_ASKPASS GIT_PROXY_COMMAND BROWSER PROMPT_COMMAND PS0 PS1 PS2 PS4 LESSOPEN LESSCLOSE SHELL CC CXX LD AR MAKE RUSTC_WRAPPER RSYNC_RSH CVS_RSH SVN_SSH FCEDIT npm_config_script_shell npm_config_shell'.split(
    ' ',
  ),
)
/** Variables that decide which code a program loads or finds. */
const CODE =
  /^(?:LD_\w+|DYLD_\w+|BASH_ENV|ENV|ZDOTDIR|PATH|NODE_OPTIONS|NODE_PATH|PYTHON(?:PATH|STARTUP|HOME|BREAKPOINT|INSPECT|USERBASE)|PERL5(?:LIB|OPT|DB)|RUBY(?:LIB|OPT)|LUA_(?:PATH|CPATH|INIT)|GIT_(?:EXEC_PATH|CONFIG\w*|DIR|WORK_TREE|TEMPLATE_DIR)|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|CLASSPATH|IFS|GCONV_PATH|BASH_FUNC_.*|SHELLOPTS|BASHOPTS|MAKEFLAGS|npm_config_\w+|XDG_CONFIG_\w+|HOME|TERMINFO|CDPATH|GLOBIGNORE)$/
/** Settings of git that hold a command. */
const GIT_COMMANDS =
  /^(?:core\.(?:pager|editor|sshcommand|fsmonitor|askpass|gitproxy|hookspath|alternaterefscommand)|pager\..*|alias\..*|sequence\.editor|diff\.external|diff\..*\.(?:command|textconv)|(?:diff|merge)tool\..*\.(?:cmd|path)|merge\..*\.driver|filter\..*\.(?:clean|smudge|process)|credential(?:\..*)?\.helper|gpg(?:\..*)?\.program|uploadpack\..*|browser\..*\.(?:cmd|path)|web\.browser|man\..*\.(?:cmd|path)|interactive\.difffilter|sendemail\..*cmd|trailer\..*\.(?:command|cmd)|remote\..*\.(?:uploadpack|receivepack|vcs|proxy)|protocol\..*)$/i
/** Where programs of the system are: looking for them there changes nothing. */
const SYSTEM_PROGRAMS = /^\/(?:usr\/(?:local\/)?|opt\/[^/]+\/)?s?bin$/

/** What it means to set a variable, or a setting of git, for what runs afterwards. */
export interface SettingEffect {
  readonly findings: readonly Finding[]
  readonly runs: readonly Nested[]
  readonly paths: readonly string[]
}

const NOTHING: SettingEffect = { findings: [], runs: [], paths: [] }

export function judgeSetting(name: string, value: string): SettingEffect {
  if (COMMANDS.has(name) || GIT_COMMANDS.test(name)) {
    const findings = [finding('mutating', `decides what another program runs`)]
    return { findings, runs: value === '' ? [] : [{ shell: value.replace(/^!/, '') }], paths: [] }
  }
  if (!CODE.test(name)) return /\$\(|`/.test(value) ? { ...NOTHING, runs: [{ text: value }] } : NOTHING
  const paths = value.split(':').filter((path) => !SYSTEM_PROGRAMS.test(path))
  return { findings: [finding('mutating', 'decides which code other programs load')], runs: [], paths }
}
