#: sed in place
sed -i s/alpha/ALPHA/ a.txt; cat a.txt
#: sed in place with a backup
sed -i.bak s/alpha/ALPHA/ a.txt; cat a.txt a.txt.bak; echo "rc $?"
#: sed deletes lines
sed -i 2d a.txt; cat a.txt
#: sed on several files
sed -i s/a/X/g a.txt b.txt; cat a.txt b.txt
#: sed on nothing
sed -i s/a/b/ gone; echo "rc $?"
#: sed on a directory
sed -i s/a/b/ dir; echo "rc $?"
#: sed through a link
sed -i s/alpha/ALPHA/ link; cat a.txt; [ -L link ] && echo link
#: sed writes a file
sed -n '/a$/w out' a.txt; cat out
#: sed inserts and appends
sed -i -e '1i first' -e '$a last' a.txt; cat a.txt
#: sed with a range
sed -n 2,3p a.txt
#: awk writes files
awk '{ print $1 > ($1 ".out") }' a.txt; ls *.out; cat alpha.out
#: awk appends
awk '{ print >> "log" }' a.txt; awk '{ print >> "log" }' a.txt; wc -l log
#: awk reads a file
awk 'BEGIN { while ((getline line < "a.txt") > 0) n++; print n }'
#: sort onto itself
printf 'c\na\nb\n' > s; sort -o s s; cat s
#: sort and uniq
printf 'b\na\nb\n' > s; sort s | uniq -c
#: tr and a temporary file
tr a-z A-Z < a.txt > t && mv t a.txt; cat a.txt
#: head and tail
head -1 a.txt; tail -1 a.txt; head -c 3 a.txt
#: paste and cut
paste -d, a.txt a.txt | cut -d, -f2
#: diff of files
cp a.txt c; echo more >> c; diff a.txt c; echo "rc $?"
#: diff of equal files
cp a.txt c; diff a.txt c; echo "rc $?"
#: diff of trees
cp -r dir d2; echo x > d2/c.md; diff -r dir d2; echo "rc $?"
#: diff of nothing
diff a.txt gone; echo "rc $?"
#: cmp
cmp a.txt b.txt; echo "rc $?"
#: grep in files
grep -n a a.txt b.txt
#: grep recursively
grep -r deep . | sort
#: grep of names
grep -rl e . | sort
#: grep of nothing
grep x gone; echo "rc $?"
#: grep of a directory
grep x dir; echo "rc $?"
#: rg
rg --no-heading deep | sort
#: wc of several
wc a.txt b.txt
#: tac and rev
tac a.txt; rev b.txt
#: nl
nl a.txt
#: comm and join
sort a.txt > s1; comm -12 s1 s1
#: xargs makes files
echo x1 x2 x3 | xargs touch; ls x*
#: truncate is not there
truncate -s 3 a.txt; echo "rc $?"
#: patch is not there
echo x | patch a.txt; echo "rc $?"
#: jq of a file
echo '{"a":[1,2]}' > j; jq -c .a j
#: file types
file a.txt dir link | cut -c1-12
#: strings of a binary
printf 'abc\x00defg\x00' > bin; strings bin
#: column
printf 'a b\ncc d\n' | column -t
#: tee and process
cat a.txt | tee copy | wc -l; cmp a.txt copy && echo same
#: sponge by a variable
x=$(cat a.txt); echo "$x" > a.txt; cat a.txt
#: mapfile
mapfile -t lines < a.txt; echo "${#lines[@]} ${lines[1]}"
