import { OptionTable } from './option-table.ts'

/** Options that format changes. Those that run a program, `--ext-diff` and `--textconv`, are not among them. */
const DIFF =
  '-puRsabwWztr -# -U? -M? -C? -B? -D -X? -S= -G= -l= --patch --no-patch --raw --patch-with-raw --patch-with-stat --stat? --compact-summary --numstat --shortstat --dirstat? --summary --name-only --name-status --color? --no-color --color-moved? --no-color-moved --color-moved-ws= --word-diff? --word-diff-regex= --color-words? --no-renames --rename-empty --check --full-index --binary --abbrev? --find-renames? --find-copies? --find-copies-harder --irreversible-delete --diff-filter= --pickaxe-all --pickaxe-regex --relative? --no-relative --text --ignore-cr-at-eol --ignore-space-at-eol --ignore-space-change --ignore-all-space --ignore-blank-lines --ignore-matching-lines= --inter-hunk-context= --function-context --exit-code --quiet --no-ext-diff --no-textconv --ignore-submodules? --submodule? --src-prefix= --dst-prefix= --no-prefix --default-prefix --line-prefix= --unified= --minimal --patience --histogram --anchored= --diff-algorithm= --indent-heuristic --no-indent-heuristic --cached --staged --merge-base --no-index --ws-error-highlight= --skip-to= --rotate-to= --base --ours --theirs'
/** Options that select revisions and format them. */
const LOG = `${DIFF} -iEFPgmcq -n= -L= --cc --oneline --graph --no-graph --all --branches? --tags? --remotes? --glob= --exclude= --decorate? --no-decorate --decorate-refs= --decorate-refs-exclude= --clear-decorations --source --pretty? --format= --date= --abbrev-commit --no-abbrev-commit --follow --no-follow --full-diff --log-size --max-count= --skip= --since= --after= --until= --before= --since-as-filter= --author= --committer= --grep= --grep-reflog= --all-match --invert-grep --regexp-ignore-case --basic-regexp --extended-regexp --fixed-strings --perl-regexp --merges --no-merges --min-parents= --max-parents= --no-min-parents --no-max-parents --first-parent --not --reflog --walk-reflogs --merge --boundary --simplify-by-decoration --simplify-merges --full-history --dense --sparse --ancestry-path? --show-pulls --cherry-pick --cherry-mark --cherry --left-right --left-only --right-only --topo-order --date-order --author-date-order --reverse --no-walk? --do-walk --encoding= --notes? --no-notes --show-notes? --show-signature --no-show-signature --relative-date --parents --children --timestamp --mailmap --use-mailmap --no-mailmap --diff-merges= --no-diff-merges --combined-all-paths --expand-tabs? --no-expand-tabs --show-linear-break? --remove-empty`
const LISTING =
  '--format= --sort= --contains? --no-contains? --merged? --no-merged? --points-at= --column? --no-column --color? --no-color --ignore-case --omit-empty'
const BLAME =
  '-ltfnsewpcb -L= -M? -C? -S= --date= --porcelain --line-porcelain --show-name --show-number --show-email --root --incremental --abbrev= --color-lines --color-by-age --reverse? --first-parent --since= --ignore-rev= --ignore-revs-file= --encoding= --show-stats --progress --no-progress --minimal --contents='

/**
 * Options that leave a call read-only, if its command only reads with these operands: `clean --dry-run`, for example.
 * Options before the command are listed under `git`; settings, pagers and `--exec-path=` are not among them. `OptionTable`
 * explains the marks behind the names.
 */
export const gitOptions: OptionTable = new OptionTable([
  [
    'git',
    '-Pvh -C= --no-pager --git-dir= --work-tree= --namespace= --bare --no-replace-objects --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --no-optional-locks --no-advice --version --help --html-path --man-path --info-path --exec-path +',
  ],
  ['log whatchanged', LOG],
  [
    'show reflog stash diff-tree diff-index diff-files',
    `${LOG} -v --root --stdin --no-commit-id --always --include-untracked --only-untracked`,
  ],
  ['diff', `${DIFF} --no-merges --cc -c`],
  ['range-diff', `${DIFF} --creation-factor= --no-dual-color --dual-color --left-only --right-only`],
  [
    'rev-list',
    `${LOG} --count --objects --no-object-names --disk-usage? --bisect --header --stdin --use-bitmap-index --no-commit-header --all --objects-edge`,
  ],
  ['shortlog', `${LOG} -nsec -w? --summary --numbered --email --group=`],
  [
    'status',
    '-sbvz -u? --short --branch --show-stash --porcelain? --long --verbose --untracked-files? --ignore-submodules? --ignored? --column? --no-column --ahead-behind --no-ahead-behind --renames --no-renames --find-renames?',
  ],
  [
    'rev-parse',
    '-q --abbrev-ref? --short? --verify --quiet --show-toplevel --show-prefix --show-cdup --git-dir --absolute-git-dir --git-common-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository --is-shallow-repository --symbolic --symbolic-full-name --all --branches? --tags? --remotes? --glob= --exclude= --revs-only --no-revs --flags --no-flags --not --sq --git-path= --show-superproject-working-tree --path-format= --since= --until= --local-env-vars --show-object-format? --show-ref-format --end-of-options --default= --disambiguate=',
  ],
  [
    'describe',
    '--tags --always --dirty? --broken? --abbrev= --long --match= --exclude= --exact-match --first-parent --contains --all --candidates= --debug',
  ],
  [
    'ls-files',
    '-cdmoistuvfkz -x= -X= --cached --deleted --modified --others --ignored --stage --unmerged --killed --directory --no-empty-directory --eol --exclude= --exclude-from= --exclude-per-directory= --exclude-standard --error-unmatch --full-name --recurse-submodules --abbrev? --debug --deduplicate --format= --with-tree= --resolve-undo --sparse',
  ],
  [
    'ls-tree',
    '-drtlz --long --name-only --name-status --object-only --full-name --full-tree --abbrev? --format=',
  ],
  ['name-rev', '--tags --refs= --name-only --always --all --no-undefined --exclude= --annotate-stdin'],
  ['for-each-ref', `${LISTING} --count= --python --shell --perl --tcl --exclude= --stdin`],
  ['merge-base', '-a --all --octopus --independent --is-ancestor --fork-point'],
  ['cherry', '-v --abbrev?'],
  ['count-objects', '-vH --verbose --human-readable'],
  ['verify-commit verify-tag', '-v --verbose --raw --format='],
  ['var', '-l'],
  ['version', '--build-options'],
  ['check-ignore', '-vnqz --verbose --non-matching --quiet --stdin --no-index'],
  ['check-attr', '-az --all --cached --stdin --source='],
  [
    'show-branch',
    '-arg --all --remotes --topo-order --date-order --sparse --more? --list --merge-base --independent --current --sha1-name --no-name --topics --color? --no-color --reflog?',
  ],
  [
    'show-ref',
    '-dsq --head --heads --tags --branches --dereference --hash? --abbrev? --verify --quiet --exists --exclude-existing?',
  ],
  ['stripspace', '-sc --strip-comments --comment-lines'],
  [
    'cat-file',
    '-tsepz --batch? --batch-check? --batch-all-objects --buffer --unordered --follow-symlinks --allow-unknown-type',
  ],
  [
    'grep',
    '-achHiIlLnopqrvwWEFGPz -# -e= -f= -A= -B= -C= -m= --cached --untracked --no-index --no-exclude-standard --exclude-standard --recurse-submodules --text --ignore-case --word-regexp --invert-match --full-name --extended-regexp --basic-regexp --perl-regexp --fixed-strings --line-number --column --files-with-matches --name-only --files-without-match --null --only-matching --count --color? --no-color --break --heading --show-function --context= --after-context= --before-context= --function-context --max-count= --max-depth= --threads= --and --or --not --all-match --quiet',
  ],
  ['blame annotate', BLAME],
  ['branch', `-arvli ${LISTING} --all --remotes --list --verbose --show-current --abbrev? --no-abbrev`],
  ['tag', `-liv -n? ${LISTING} --list`],
  ['remote', '-v --verbose --all --push'],
  ['worktree', '-vz --porcelain --verbose'],
  ['submodule', '-q --cached --recursive --quiet --summary-limit= --files -n='],
  ['notes', '--ref='],
  ['bundle rerere sparse-checkout bisect fmt-merge-msg get-tar-commit-id', '-q --quiet'],
  ['symbolic-ref', '-q --short --quiet --recurse --no-recurse'],
  [
    'config',
    '-lz -t= -f= --get --get-all --get-regexp --get-urlmatch --list --show-origin --show-scope --name-only --null --type= --bool --int --path --bool-or-int --bool-or-str --expiry-date --local --global --system --worktree --file= --blob= --default= --includes --no-includes --all --regexp --value= --url= --fixed-value --show-names --no-show-names',
  ],
  ['hash-object', '-t= --stdin --stdin-paths --path= --no-filters --literally'],
  [
    'apply',
    '-Rvqz -p= -C= --check --stat --numstat --summary --reverse --verbose --quiet --index --cached --unidiff-zero --recount --whitespace= --exclude= --include= --directory= --ignore-whitespace --ignore-space-change --allow-empty',
  ],
  [
    'clean rm prune',
    '-ndxXfqrv -e= --dry-run --exclude= --quiet --verbose --force --cached --ignore-unmatch --expire= --no-progress',
  ],
  ['archive', '-lv -# --format= --prefix= --list --verbose --worktree-attributes'],
  ['help', '-agc --all --guides --config --no-verbose'],
  [
    'fsck',
    '--full --no-full --strict --verbose --unreachable --dangling --no-dangling --root --tags --cache --reflogs --no-reflogs --connectivity-only --progress --no-progress --name-objects --no-name-objects',
  ],
])
