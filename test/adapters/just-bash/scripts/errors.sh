#: cat of a directory
cat dir; echo "rc $?"
#: cat of nothing
cat gone; echo "rc $?"
#: cat of some
cat a.txt gone b.txt; echo "rc $?"
#: cat below a file
cat a.txt/x; echo "rc $?"
#: ls of nothing
ls gone; echo "rc $?"
#: ls below a file
ls a.txt/x; echo "rc $?"
#: cd to a file
cd a.txt; echo "rc $?"; pwd
#: cd to nothing
cd gone; echo "rc $?"
#: cd to a broken link
ln -s gone l; cd l; echo "rc $?"
#: source of nothing
. ./gone; echo "rc $?"
#: run of a directory
./dir; echo "rc $?"
#: run of nothing
./gone; echo "rc $?"
#: run of a file without permission
./a.txt; echo "rc $?"
#: an unknown command
nosuch; echo "rc $?"
#: head of a directory
head dir; echo "rc $?"
#: wc of a directory
wc dir; echo "rc $?"
#: sort of nothing
sort gone; echo "rc $?"
#: a write to a directory that is gone
mkdir t; cd t; rm -r ../t; echo x > f; echo "rc $?"
#: stat of nothing
stat gone; echo "rc $?"
#: touch of a directory below a file
touch a.txt/x; echo "rc $?"
#: du of nothing
du gone; echo "rc $?"
#: ln below a file
ln -s x a.txt/l; echo "rc $?"
#: mv below a file
mv b.txt a.txt/b; echo "rc $?"; ls
#: cp below a file
cp b.txt a.txt/b; echo "rc $?"; ls
#: tee below a file
echo x | tee a.txt/t; echo "rc $?"
#: bash of nothing
bash gone; echo "rc $?"
#: a syntax error
if then; echo "rc $?"
#: an unset variable
set -u; echo $nothing > f; echo "rc $?"
#: rm without an operand
rm; echo "rc $?"
#: cp without a target
cp a.txt; echo "rc $?"
#: readonly
readonly r=1; r=2; echo "rc $?"
#: a read of a directory
read -r x < dir; echo "rc $?"
#: an unknown option
ls --nonsense; echo "rc $?"
#: a very long name
n=$(printf 'x%.0s' {1..200}); echo y > "$n"; cat "$n"
#: a too long name
n=$(printf 'x%.0s' {1..300}); echo y > "$n"; echo "rc $?"
