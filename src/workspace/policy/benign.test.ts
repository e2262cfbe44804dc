import { describe, expect, it } from 'vitest'
import { decide, executionRequest } from './index.ts'

/** What people and agents type all day in a project. */
const everyday: readonly string[] = String.raw`
ls
ls -la
ls -la src
ls -lh --color=auto src/components
pwd
cat README.md
cat package.json | jq .scripts
cat src/index.ts src/main.ts
head -n 50 src/app.ts
tail -n 20 logs/app.log
tail -f logs/app.log
wc -l src/*.ts
wc -l $(git ls-files)
tree -L 2
tree -I 'node_modules|dist'
du -sh .
du -sh node_modules
df -h .
file bin/tool
stat package.json
diff a.txt b.txt
diff -u old.ts new.ts
diff <(sort a) <(sort b)
cmp a b
comm -12 a.txt b.txt
sort names.txt | uniq -c | sort -rn | head
cut -d, -f1 data.csv
cut -d/ -f2 paths.txt
paste a b
tr a-z A-Z < in.txt
tr -d '\r' < in.txt > out.txt
tr / _ < names
rev names.txt
nl src/a.ts
od -c f | head
xxd f | head
base64 f
sha256sum dist/app.js
md5sum *.zip
date
date +%Y-%m-%d
date -u '+%H:%M/%S'
whoami
id
uname -a
hostname
env
printenv PATH
which node
type ls
command -v python3
echo hello
echo "hello world"
echo $HOME
echo "$(date) done"
printf '%s\n' a b c
echo /etc/passwd
true
sleep 1
seq 1 10
test -f package.json
[ -d node_modules ] && echo yes
[[ -f a ]] || echo missing
grep -rn TODO src
grep -rn "/api/v1" src
grep -E '^import .* from' -r src --include='*.ts'
grep -v '^#' config.ini
grep -c error log.txt
grep -e '/etc' -r docs
rg TODO
rg -n 'function \w+' src -g '*.ts'
rg --files | head
rg -l '/users/:id' src
ag pattern src
find . -name '*.ts'
find . -type f -name '*.md' -not -path './node_modules/*'
find src -name '*.test.ts' | wc -l
find . -name '*.log' -delete
find . -type f -exec wc -l {} +
find . -name '*.ts' -exec grep -l TODO {} \;
find . -name '*.tmp' -print0 | xargs -0 rm -f
find . -maxdepth 1 -mtime -1
fd '\.ts$' src
git ls-files | xargs wc -l
git ls-files '*.ts' | xargs grep -n TODO
sed -n '1,50p' src/a.ts
sed -n '/start/,/end/p' f
sed 's/foo/bar/g' f
sed -i 's/foo/bar/g' src/a.ts
sed -i.bak -e 's|/old/path|/new/path|' config.yml
sed '/^$/d' f
awk '{print $1}' f
awk -F, '{s+=$2} END {print s}' data.csv
awk '/error/ {count++} END {print count}' log
awk 'NR==10' f
perl -pe 's/a/b/' f
perl -i -pe 's/foo/bar/g' src/a.ts
jq '.dependencies' package.json
jq -r '.version' package.json
jq '.[] | select(.path == "/x")' data.json
yq '.services' docker-compose.yml
touch new.txt
mkdir -p src/new/dir
cp a.txt b.txt
cp -r src src-copy
mv a.txt b.txt
mv src/a.ts src/b.ts
rm old.txt
rm -rf dist node_modules
rm -f *.tmp
rmdir empty
chmod +x script.sh
chmod 755 bin/tool
tee out.log < in.log
echo hi > out.txt
echo more >> out.txt
cat a b > c
ls > /dev/null 2>&1
command 2>/dev/null
make 2>&1 | tee build.log
tar czf out.tgz src
tar xzf in.tgz
tar tzf in.tgz
tar -xf in.tar -C build
zip -r out.zip src
unzip in.zip -d out
unzip -l in.zip
gzip big.log
gunzip big.log.gz
git status
git status --short
git log
git log --oneline -20
git log --oneline main..HEAD
git log --format='%h %s' --since=yesterday
git log -p -- src/a.ts
git log --grep='/api'
git diff
git diff HEAD~1
git diff --stat main...HEAD
git diff --cached
git show HEAD
git show HEAD:src/a.ts
git blame src/a.ts
git branch
git branch -a
git branch feature
git checkout main
git checkout -b feature/x
git switch -c feature
git add .
git add -A
git add src/a.ts
git commit -m "fix: handle /etc paths"
git commit -am 'wip'
git commit --amend --no-edit
git stash
git stash pop
git stash list
git merge feature
git rebase main
git reset HEAD~1
git reset --hard HEAD
git restore src/a.ts
git checkout -- src/a.ts
git clean -fd
git tag
git tag v1.0.0
git rev-parse HEAD
git rev-parse --show-toplevel
git config --get user.name
git config user.name agent
git remote -v
git cherry-pick abc123
git revert HEAD
git grep -n TODO
git ls-files
git worktree list
git bisect run npm test
git apply fix.patch
git format-patch -1
git init
npm test
npm run build
npm run test -- --watch=false
npm start
npm run lint
npm ls
npm ls --depth=0
npm pack --dry-run
npm version patch
npm init -y
npm exec tsc -- --noEmit
npm --version
pnpm test
pnpm run build
pnpm --filter app test
yarn test
yarn build
bun test
bun run build
npx tsc --noEmit
npx vitest run src/vfs
npx eslint . --fix
npx prettier --write src
npx biome check --write .
node index.js
node --version
node --test
node -e 'console.log(1 + 1)'
node -p 'process.version'
node scripts/build.js --out=dist
tsc -p tsconfig.json
tsx src/main.ts
python script.py
python3 -m pytest tests -q
python -m json.tool data.json
python -c 'print(1 + 1)'
python3 --version
python -m venv .venv
pytest -x -k 'test_login'
pip list
pip show requests
poetry run pytest
uv run python main.py
ruby script.rb
bundle exec rspec
php -v
go build ./...
go test ./... -run TestX
go vet ./...
go fmt ./...
go run main.go
cargo build --release
cargo test
cargo check
cargo fmt
cargo clippy -- -D warnings
cargo run -- --help
rustc --version
make
make test
make -j4 all
make clean
make -C sub all
cmake -B build -S .
cmake --build build
ninja -C build
gcc -O2 -o app main.c
gcc -Wall -Iinclude -c src/a.c -o build/a.o
g++ -std=c++20 main.cpp -o main
./configure --enable-debug
./script.sh
./gradlew build
./node_modules/.bin/eslint src
bash script.sh
bash -c 'echo hi'
sh -c 'ls | wc -l'
bash -n script.sh
set -euo pipefail; npm test
cd src && ls
cd packages/app && npm test
cd src && cat ../package.json
(cd sub && make)
pushd src && ls && popd
export NODE_ENV=test
NODE_ENV=production npm run build
FOO=bar node app.js
CI=1 npm test
CC=clang make
time npm test
timeout 60 npm test
nohup node server.js &
nice -n 10 make
env NODE_ENV=test node app.js
for f in src/*.ts; do echo "$f"; done
for f in *.md; do wc -l "$f"; done
for i in 1 2 3; do echo $i; done
while read -r line; do echo "$line"; done < input.txt
if [ -f a ]; then cat a; else echo none; fi
case "$1" in start) echo go;; *) echo no;; esac
x=$(cat version.txt); echo "v$x"
f() { echo "$1"; }; f hi
kill %1
kill $!
wait
jobs
sqlite3 app.db 'select count(*) from users'
sqlite3 app.db .schema
vim notes.md
less README.md
man ls
patch -p1 < fix.patch
patch --dry-run -p1 < fix.patch
rsync -a src/ backup/
dd if=/dev/zero of=blank.img bs=1M count=1
shellcheck script.sh
prettier --check .
eslint src --ext .ts
jest --coverage
vitest run
playwright test
ffmpeg -i in.mp4 out.webm
convert in.png out.jpg
pandoc README.md -o README.html
openssl dgst -sha256 file
openssl rand -hex 16
strings bin/app | head
nm lib.a
readelf -h bin/app
ps aux | grep node
pgrep node
/bin/ls -la
/usr/bin/env node script.js
/usr/bin/git status
xargs -n1 echo < list.txt
cat list.txt | xargs -I{} cp {} out/
basename src/a.ts .ts
dirname /a/b/c
realpath src
readlink -f link
expr 1 + 2
echo $((1 + 2))
umask
history
clear
`
  .trim()
  .split('\n')

describe('everyday commands', () => {
  it('has a long list of them', () => {
    expect(new Set(everyday).size).toBeGreaterThan(300)
  })

  it.each(everyday)('lets `%s` run without asking', (shell) => {
    const { action, reason } = decide(executionRequest({ vault: 'v', command: { shell } }))
    expect({ action, reason: /^allow/.test(action) ? '' : reason }).toEqual({
      action: expect.stringMatching(/^allow/),
      reason: '',
    })
  })
})
