/** What a user proves to other machines who they are with. */
const keys = [
  '.ssh',
  '.gnupg',
  '.age',
  '.config/sops',
  '.password-store',
  '.pki',
  '.Xauthority',
  '.ICEauthority',
]

const passwordStores = [
  '.local/share/keyrings',
  '.local/share/kwalletd',
  '.config/keepassxc',
  '.config/Bitwarden',
  '.config/Bitwarden CLI',
  '.config/op',
  '.config/1Password',
]

const clouds = [
  '.aws',
  '.azure',
  '.kube',
  '.docker',
  '.config/containers',
  '.config/gcloud',
  '.config/doctl',
  '.config/hcloud',
  '.config/helm',
  '.config/heroku',
  '.config/linode-cli',
  '.config/netlify',
  '.config/rclone',
  '.config/scw',
  '.config/.wrangler',
  '.wrangler',
  '.local/share/com.vercel.cli',
  '.aliyun',
  '.bluemix',
  '.oci',
  '.fly',
  '.mc',
  '.s3cfg',
  '.boto',
  '.pulumi',
  '.terraform.d',
  '.terraformrc',
  '.vault-token',
]

const registries = [
  '.netrc',
  '.npmrc',
  '.yarnrc.yml',
  '.pypirc',
  '.config/pip',
  '.gem/credentials',
  '.bundle/config',
  '.cargo/credentials',
  '.cargo/credentials.toml',
  '.composer/auth.json',
  '.config/composer/auth.json',
  '.gradle/gradle.properties',
  '.m2/settings.xml',
  '.m2/settings-security.xml',
  '.nuget/NuGet',
  '.hex/hex.config',
  '.git-credentials',
  '.config/git/credentials',
  '.config/gh',
  '.config/glab-cli',
  '.config/hub',
]

const databases = ['.pgpass', '.my.cnf', '.mylogin.cnf', '.snowsql', '.databrickscfg', '.mongorc.js']

const agents = [
  '.claude',
  '.claude.json',
  '.codex',
  '.gemini',
  '.config/github-copilot',
  '.config/openai',
  '.cache/huggingface/token',
  '.huggingface',
  '.kaggle',
]

const browsers = [
  '.mozilla',
  '.thunderbird',
  '.config/google-chrome',
  '.config/chromium',
  '.config/BraveSoftware',
  '.config/microsoft-edge',
  '.config/opera',
  '.config/vivaldi',
  'snap/firefox',
  'snap/chromium',
  '.var/app',
]

const wallets = ['.bitcoin', '.electrum', '.ethereum', '.config/solana']

/** Passwords are typed where they should not be. */
const histories = [
  '.bash_history',
  '.zsh_history',
  '.histfile',
  '.local/share/fish',
  '.local/state/bash',
  '.python_history',
  '.node_repl_history',
  '.psql_history',
  '.mysql_history',
  '.sqlite_history',
  '.rediscli_history',
  '.dbshell',
]

/** Where credentials live below a home directory. A command that is isolated finds nothing there. */
export const secretPlaces: readonly string[] = [
  ...keys,
  ...passwordStores,
  ...clouds,
  ...registries,
  ...databases,
  ...agents,
  ...browsers,
  ...wallets,
  ...histories,
]
