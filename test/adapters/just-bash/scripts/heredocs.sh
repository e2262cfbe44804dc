#: into a file
cat > h <<EOF
one
two
EOF
cat h
#: with variables
x=5; cat <<EOF
x is $x and $((x + 1))
EOF
#: quoted
x=5; cat <<'EOF'
x is $x
EOF
#: tabs are stripped
cat <<-EOF
	one
	two
	EOF
#: appended
cat >> a.txt <<EOF
delta
EOF
cat a.txt
#: into a loop
while read -r l; do echo "[$l]"; done <<EOF
a
b
EOF
#: a here-string
cat <<< 'a string'
#: a here-string into a file
cat > h <<< "$HOME-x"; cat h
#: two at once
cat <<A; cat <<B
first
A
second
B
#: in a pipe
cat <<EOF | tr a-z A-Z | tee up
loud
EOF
cat up
#: a script in a here-document
cat > s.sh <<'EOF'
#!/bin/bash
echo "args: $*"
EOF
chmod +x s.sh; ./s.sh 1 2; bash s.sh 3
#: sourced
cat > lib.sh <<'EOF'
greet() { echo "hi $1"; }
v=loaded
EOF
. ./lib.sh; greet x; echo $v
#: a program for awk in a file
cat > p.awk <<'EOF'
{ n += NF } END { print n }
EOF
awk -f p.awk a.txt
#: command substitution in it
cat <<EOF
$(cat a.txt | head -1) and `echo back`
EOF
#: an empty one
cat <<EOF
EOF
echo "rc $?"
#: JSON
cat > c.json <<EOF
{ "name": "$(basename a.txt)" }
EOF
jq -r .name c.json
#: in a function
f() { cat <<EOF
in $1
EOF
}
f x > o; cat o
