import type { Finding } from './category.ts'
import { createFinding, createUnseenFindings, isStream, type NestedCommand } from './programs/index.ts'
import { UNKNOWN } from './shell/unknown.ts'

/** Variables and settings that hold a command which some program runs. */
const COMMANDS = new Set(
  'PAGER GIT_PAGER MANPAGER EDITOR VISUAL GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_SSH_COMMAND GIT_SSH GIT_EXTERNAL_DIFF GIT_ASKPASS SSH_ASKPASS SUDO_ASKPASS GIT_PROXY_COMMAND BROWSER PROMPT_COMMAND PS0 PS1 PS2 PS4 LESSOPEN LESSCLOSE FZF_DEFAULT_COMMAND SHELL CC CXX LD AR MAKE RUSTC_WRAPPER RSYNC_RSH CVS_RSH SVN_SSH FCEDIT BASH_ALIASES RUSTDOC RUSTFMT CARGO HGEDITOR HGMERGE RSH RUBYSHELL CONFIG_SHELL NINJA PKG_CONFIG YACC LEX FC CPP CCACHE_PREFIX CCACHE_COMPILER GIT_MAN_VIEWER GIT_BROWSER KUBECTL_EXTERNAL_DIFF'.split(
    ' ',
  ),
)
/** Variables that add arguments to every call of a program. */
const ARGUMENTS: ReadonlyMap<string, string> = new Map([
  ['TAR_OPTIONS', 'tar'],
  ['PERL5OPT', 'perl'],
  ['RUBYOPT', 'ruby'],
  ['NODE_OPTIONS', 'node'],
  ['MAKEFLAGS', 'make'],
  ['GNUMAKEFLAGS', 'make'],
  ['GREP_OPTIONS', 'grep'],
  ['LESS', 'less'],
  ['FZF_DEFAULT_OPTS', 'fzf'],
  ['BAT_OPTS', 'bat'],
  ['ACK_OPTIONS', 'ack'],
  ['MANOPT', 'man'],
  ['MORE', 'more'],
  ['ZIPOPT', 'zip'],
  ['UNZIP', 'unzip'],
])
/** Variables that hold commands a program runs at its start, each with the call that runs them. */
const BEGINNINGS: ReadonlyMap<string, readonly string[]> = new Map([
  ['VIMINIT', ['vim', '-c']],
  ['GVIMINIT', ['vim', '-c']],
  ['EXINIT', ['ex', '-c']],
  ['LUA_INIT', ['lua', '-e']],
])
/** Programs that arguments for compilers name to be started. */
const STARTED = /(?:linker=|-wrapper[\s=]+|-(?:toolexec|exec|vettool)=)(\S+)/g
/** Patterns for the names of further variables that hold a command. */
const COMMAND_LIKE =
  /^(?:GIT_CONFIG_VALUE_\d+|(?:npm_config|NPM_CONFIG)_(?:script_shell|shell|git|editor|browser|SCRIPT_SHELL|SHELL|GIT|EDITOR|BROWSER)|CMAKE_\w+_(?:LAUNCHER|COMPILER)|FZF_\w+_COMMAND|[A-Z]+_(?:PAGER|EDITOR)|LESSEDIT|RUSTC|CARGO_ALIAS_\w+|CARGO\w*_(?:WRAPPER|RUNNER|LINKER|RUSTC)|RUSTC(?:_WORKSPACE)?_WRAPPER)$/
/** Variables and settings of git that name a file to read or to write. */
const FILES =
  /^(?:TMPDIR|OLDPWD|PWD|RIPGREP_CONFIG_PATH|BAT_CONFIG_PATH|ACKRC|GIT_(?:TRACE\w*|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|COMMON_DIR|REDIRECT_STD\w+)|MALLOC_TRACE|SSLKEYLOGFILE|TF_LOG_PATH|LLVM_PROFILE_FILE|GCOV_PREFIX|LESSKEY\w*|LESSHISTFILE|NODE_(?:V8_COVERAGE|REDIRECT_WARNINGS|COMPILE_CACHE)|PIP_(?:CONFIG_FILE|LOG)|include\.path|includeif\..*\.path|init\.templatedir|core\.(?:worktree|attributesfile|excludesfile|hookspath)|commit\.template)$/i
/** Value that turns such a variable on or off, and names no file. */
const SWITCH = /^(?:\d|true|false|)$/i

/** Variables that decide which code a program loads or finds. */
const CODE =
  /^(?:LD_\w+|DYLD_\w+|BASH_ENV|ENV|ZDOTDIR|PATH|NODE_(?:PATH|REPL_EXTERNAL_MODULE)|PYTHON(?:PATH|STARTUP|HOME|BREAKPOINT|INSPECT|USERBASE|PLATLIBDIR|EXECUTABLE|PYCACHEPREFIX)|PERL5(?:LIB|DB|SHELL)|PERLLIB|AWKPATH|AWKLIBPATH|JQ_LIBRARY_PATH|LOCPATH|NLSPATH|GETCONF_DIR|OPENSSL_(?:CONF|MODULES|ENGINES)|BASH_LOADABLES_PATH|BUNDLE_GEMFILE|PIP_PYTHON|DOTNET_STARTUP_HOOKS|YARN_(?:RC_FILENAME|IGNORE_PATH)|npm_node_execpath|RUBYLIB|LUA_C?PATH|GIT_(?:EXEC_PATH|CONFIG\w*|DIR|WORK_TREE|TEMPLATE_DIR)|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|CLASSPATH|IFS|GCONV_PATH|BASH_CMDS|SHELLOPTS|BASHOPTS|GLIBC_TUNABLES|(?:npm_config|NPM_CONFIG)_\w+|XDG_CONFIG_\w+|HOME|TERMINFO|CDPATH|GLOBIGNORE)$/
/** Variables that choose a toolchain or its settings, which are mostly those of the machine. */
const TOOLCHAIN =
  /^(?:CARGO_(?:HOME|CONFIG|ENCODED_RUSTFLAGS)|RUSTUP_(?:HOME|TOOLCHAIN)|(?:RUST|C|CXX|CPP|LD|M)FLAGS|GO(?:FLAGS|ROOT|ENV|TOOLCHAIN|TOOLDIR)|GEM_(?:HOME|PATH)|JAVA_HOME|JDK_JAVA_OPTIONS|(?:MAVEN|GRADLE)_OPTS|PHPRC|PHP_INI_SCAN_DIR|R_(?:PROFILE|HOME|ENVIRON|LIBS)\w*|DOTNET_ROOT|CORECLR_\w+|MAKEFILES|HGRCPATH|BUNDLE_\w+|PIP_\w+|UV_\w+|HELM_\w+|TF_CLI_\w+|KUBECONFIG|DOCKER_(?:CONFIG|HOST)|CURL_HOME|WGETRC|GCC_EXEC_PREFIX|COMPILER_PATH|FPATH|INPUTRC|HISTFILE|NVIM_APPNAME|MYVIMRC|EMACSLOADPATH|G(?:IO|TK)_\w*MODULES|GTK_PATH|QT_PLUGIN_PATH|TERMINFO_DIRS|MAGIC|FZF_DEFAULT_OPTS_FILE|GIT_(?:ALLOW_PROTOCOL|ATTR_SOURCE))$/
/** Settings of git that hold a command. */
const GIT_COMMANDS =
  /^(?:core\.(?:pager|editor|sshcommand|fsmonitor|askpass|gitproxy|alternaterefscommand)|pager\..*|alias\..*|sequence\.editor|diff\.external|diff\..*\.(?:command|textconv)|(?:diff|merge)tool\..*\.(?:cmd|path)|merge\..*\.driver|filter\..*\.(?:clean|smudge|process)|credential(?:\..*)?\.helper|gpg(?:\..*)?\.program|uploadpack\..*|browser\..*\.(?:cmd|path)|web\.browser|man\..*\.(?:cmd|path)|interactive\.difffilter|sendemail\..*cmd|trailer\..*\.(?:command|cmd)|remote\..*\.(?:uploadpack|receivepack|vcs|proxy)|submodule\..*\.update|protocol\..*|gpg\.ssh\.defaultkeycommand|tar\..*\.command|imap\.tunnel|guitool\..*\.cmd|hook\..*\.command|instaweb\.httpd)$/i
/** Directories of the system's programs: to search them changes nothing. */
const SYSTEM_PROGRAMS = /^\/(?:usr\/(?:local\/)?|opt\/[^/]+\/)?s?bin$/

/** Effect of setting a variable, or a setting of git, on the commands that follow. */
export interface SettingEffect {
  readonly findings: readonly Finding[]
  readonly runs: readonly NestedCommand[]
  readonly paths: readonly string[]
}

const STEERS = createFinding('mutating', 'decides what another program runs')
const LOADS = createFinding('mutating', 'decides which code other programs load')
const USES_FILE = createFinding('mutating', 'decides which file another program uses')
const NOTHING: SettingEffect = { findings: [], runs: [], paths: [] }

/** Classifies a variable, or a setting of git, with its value. */
export function classifySetting(name: string, value: string): SettingEffect {
  if (COMMANDS.has(name) || GIT_COMMANDS.test(name) || COMMAND_LIKE.test(name)) {
    return { findings: [STEERS], runs: value === '' ? [] : [{ shell: value.replace(/^!/, '') }], paths: [] }
  }
  if (name.startsWith('BASH_FUNC_')) return { ...NOTHING, findings: [STEERS], runs: [{ shell: `_${value}` }] }
  if (name === 'GIT_CONFIG_PARAMETERS')
    return { ...NOTHING, findings: createUnseenFindings('settings of git') }
  const beginning = BEGINNINGS.get(name.replace(/_\d+_\d+$/, ''))
  if (beginning !== undefined)
    return { findings: [STEERS], runs: [{ argv: [...beginning, value] }], paths: [] }
  const program = ARGUMENTS.get(name)
  if (program !== undefined) {
    const argv = [program, ...value.split(/\s+/).filter((word) => word !== ''), UNKNOWN]
    return { findings: [STEERS], runs: [{ argv, stdin: '' }], paths: [] }
  }
  if (FILES.test(name)) {
    return SWITCH.test(value) ? NOTHING : { findings: [USES_FILE], runs: [], paths: [value] }
  }
  if (TOOLCHAIN.test(name)) {
    const started = [...value.matchAll(STARTED)].map(([, words = '']) => ({ argv: words.split(',') }))
    return { findings: [LOADS], runs: started, paths: [] }
  }
  const runs = /\$\(|`/.test(value) ? [{ text: value }] : []
  if (!CODE.test(name)) return runs.length > 0 ? { ...NOTHING, runs } : NOTHING
  const paths = value.split(':').filter((path) => !SYSTEM_PROGRAMS.test(path))
  return { findings: paths.some(isStream) ? createUnseenFindings('what it reads') : [LOADS], runs, paths }
}
