#: three commands
cat a.txt | grep a | wc -l
#: a failing command in front
cat gone | wc -l; echo "rc $?"
#: pipefail
set -o pipefail; cat gone | cat; echo "rc $?"
#: the states of a pipe
true | false | true; echo "${PIPESTATUS[@]}"
#: errors into the pipe
cat gone |& tr a-z A-Z
#: into a file at the end
sort -r a.txt | head -2 > top; cat top
#: a group
{ cat a.txt; cat b.txt; } | wc -l
#: a subshell keeps the directory
(cd dir; ls) | head -1; pwd
#: process substitution
diff <(sort a.txt) <(sort -r a.txt) | head -2; echo done
#: process substitution as a file
cat <(echo one) <(echo two)
#: xargs
ls *.txt | xargs -n1 wc -l
#: xargs with a replacement
ls *.txt | xargs -I{} cp {} {}.bak; ls
#: while with a pipe
ls *.txt | while read -r f; do echo "$f $(wc -l < "$f")"; done
#: command substitution
n=$(cat a.txt | wc -l); echo "n=$n"
#: nested substitution
echo "$(cat "$(echo a.txt)")"
#: and, or
[ -f a.txt ] && echo yes || echo no; [ -f gone ] && echo yes || echo no
#: errexit
set -e; cat a.txt; cat gone; echo not-reached
#: background
sleep 0 & wait; echo "rc $?"
#: arithmetic over files
t=0; for f in *.txt; do t=$((t + $(wc -c < "$f"))); done; echo $t
#: an array of files
f=(*.txt); echo "${#f[@]} ${f[0]}"; cat "${f[@]}"
#: read a field
IFS=' ' read -r one two < b.txt; echo "$two $one"
#: printf into files
for i in 1 2 3; do printf '%03d\n' "$i" > "f$i"; done; cat f1 f2 f3
#: env and bash -c
X=1 bash -c 'echo $X > fromenv'; cat fromenv
#: a trap
trap 'echo bye > farewell' EXIT; echo hi
#: directories on a stack
pushd dir > /dev/null; ls; popd > /dev/null; pwd
#: yes and head
yes | head -3 > y; cat y
#: seq and paste
seq 3 | paste -sd+ > sum; bc < sum 2> /dev/null || cat sum
#: a function with files
count() { wc -l < "$1"; }; count a.txt
#: eval
eval 'echo x > ev'; cat ev
#: timeout
timeout 5 cat a.txt | head -1
